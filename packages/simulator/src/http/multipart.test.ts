import { expect, test } from "vitest";
import type { Call } from "#src/http/call.ts";
import { formParts } from "#src/http/multipart.ts";

function call(body: Buffer, type = "multipart/form-data; boundary=xyz"): Call {
  return {
    method: "POST",
    path: "/",
    params: {},
    query: new URLSearchParams(),
    headers: { "content-type": type },
    body,
    baseUrl: "",
  };
}

const FORM =
  '--xyz\r\ncontent-disposition: form-data; name="a"\r\n\r\none\r\n--xyz\r\n' +
  'Content-Disposition: form-data; name="file"; filename="b.jpg"\r\nContent-Type: image/jpeg\r\n\r\n\r\n--xy\r\n--xyz--\r\n';

test("formParts returns the fields and files of a multipart form with unchanged bytes", () => {
  expect(formParts(call(Buffer.from(FORM)))).toEqual([
    { name: "a", content: Buffer.from("one") },
    {
      name: "file",
      fileName: "b.jpg",
      contentType: "image/jpeg",
      content: Buffer.from("\r\n--xy"),
    },
  ]);
});

test("formParts reads a multipart form that FormData has encoded", async () => {
  const form = new FormData();
  form.set("a", "ü");
  form.set("b", new Blob([Buffer.from([0, 255])], { type: "image/png" }), "b.png");
  const request = new Request("http://localhost", { method: "POST", body: form });
  const body = Buffer.from(await request.arrayBuffer());
  expect(formParts(call(body, request.headers.get("content-type") ?? ""))).toEqual([
    { name: "a", content: Buffer.from("ü") },
    { name: "b", fileName: "b.png", contentType: "image/png", content: Buffer.from([0, 255]) },
  ]);
});

test("formParts returns undefined for a multipart form that is truncated at any byte", () => {
  const whole = Buffer.from(FORM);
  // The line end after the last boundary of a multipart form may be missing.
  for (let length = 0; length < whole.length - 2; length += 1)
    expect(formParts(call(whole.subarray(0, length)))).toBeUndefined();
  expect(formParts(call(whole, "multipart/form-data"))).toBeUndefined();
  expect(formParts(call(whole, "application/json; boundary=xyz"))).toBeUndefined();
});
