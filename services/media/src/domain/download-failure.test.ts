import { expect, test } from "vitest";
import { connectionReason, describeNotMedia, hasNoAddress } from "./download-failure.ts";

const describe = (text: string, contentType = "", url = "https://example.com/a.png") =>
  describeNotMedia({
    url,
    contentType,
    start: Buffer.from(text),
    isKnown: text.startsWith("%PDF"),
  });

test.each([
  ["<!DOCTYPE html><title>Sign in</title>", "text/html; charset=utf-8", "a web page"],
  ["\n <html lang=en>", "", "a web page"],
  ["<!-- saved --><HTML>", "image/png", "a web page"],
  ["anything", "text/html", "a web page"],
  ['{"error":{"code":403}}', "application/json", "JSON"],
  ['[{"error":1}]', "text/plain", "JSON"],
  ["{}", "application/problem+json", "JSON"],
])("an answer that begins with %j and has the type %j is described as %s", (text, type, reason) => {
  expect(describe(text, type)).toMatchObject({ code: "download_not_media", reason });
});

test.each([
  ["#EXTM3U\n", "application/vnd.apple.mpegurl"],
  ["hello", "text/plain; charset=utf-8"],
])(
  "an answer of unknown bytes, %j, is described by the type that the server gave",
  (text, type) => {
    expect(describe(text, type)).toMatchObject({
      code: "download_not_media",
      found: type.split(";")[0],
    });
  },
);

test("an answer of a known type, or of which the server says nothing, has no such description", () => {
  expect(describe("%PDF-1.7", "application/pdf")).toBeUndefined();
  expect(describe("<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml")).toBeUndefined();
  for (const type of ["", "image/jpeg", "application/octet-stream", "binary/octet-stream"])
    expect(describe("noise", type), type).toBeUndefined();
});

test.each([
  ["https://drive.google.com/file/d/1a/view?usp=sharing", "export=download"],
  ["https://www.dropbox.com/scl/fi/a/b.jpg?rlkey=c&dl=0", "dl=1"],
  ["https://1drv.ms/i/s!a", "download=1"],
  ["https://company-my.sharepoint.com/:i:/g/a", "download=1"],
])("for a page of the share %s it is said which link leads to the file", (url, hint) => {
  expect(describe("<html>", "text/html", url)?.expected).toContain(hint);
});

test("a host whose name only contains that of a share gets no advice about it", () => {
  expect(describe("<html>", "", "https://notdropbox.com/a")).not.toHaveProperty("expected");
});

const coded = (code: string, more: object = {}) =>
  Object.assign(new Error(code), { code, ...more });

test.each([
  [coded("ECONNREFUSED"), "refuses"],
  [new AggregateError([coded("ECONNREFUSED"), coded("ENETUNREACH")]), "refuses"],
  [coded("CERT_HAS_EXPIRED"), "expired"],
  [coded("ERR_TLS_CERT_ALTNAME_INVALID"), "another name"],
  [coded("ERR_SSL_WRONG_VERSION_NUMBER"), "TLS"],
  [coded("CERT_SIGNATURE_FAILURE"), "not valid"],
])("the failure %o to connect has a reason that says %s", (cause, words) => {
  expect(connectionReason(new Error("unreachable", { cause }))).toContain(words);
});

test("the resolver distinguishes a name without an address from a name server that does not answer", () => {
  const lookup = { syscall: "queryA" };
  expect(hasNoAddress(new Error("x", { cause: coded("ENOTFOUND", lookup) }))).toBe(true);
  expect(hasNoAddress(new Error("x", { cause: coded("ECONNREFUSED", lookup) }))).toBe(false);
  expect(
    connectionReason(new Error("x", { cause: coded("ECONNREFUSED", lookup) })),
  ).toBeUndefined();
  expect(hasNoAddress(coded("ECONNREFUSED"))).toBe(false);
});
