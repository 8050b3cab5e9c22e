import { expect, test } from "vitest";
import { contentBytes } from "#src/routes/hooks/body-rules.ts";

test("the size of a post counts its text in UTF-8 and its options as JSON without white space", () => {
  expect(contentBytes({ content: "aé한😀" })).toBe(10);
  expect(contentBytes({ content: "", options: {} })).toBe(2);
  expect(contentBytes({ content: "ab", options: { x: { title: "é" } } })).toBe(
    2 + Buffer.byteLength('{"x":{"title":"é"}}'),
  );
  expect(contentBytes({ options: { x: {} }, accountIds: ["not counted"] })).toBe(8);
});

test.each([undefined, null, 1, "text", [], {}, { content: 5 }, { options: undefined }])(
  "the size of a post whose body is %j is 0 bytes",
  (body) => {
    expect(contentBytes(body)).toBe(0);
  },
);
