import fc from "fast-check";
import { expect, test } from "vitest";
import { toStoredBody, toStoredHeaders } from "./stored-response.ts";

test("bytes of a webhook response that are not UTF-8 are stored as replacement characters", () => {
  expect(toStoredBody(Buffer.from([0x61, 0xff, 0x00, 0x62]))).toBe("a\ufffd\ufffdb");
});

test("a webhook response body of any bytes is stored as at most 16 KiB of UTF-8 without the character U+0000", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 16_384, size: "max" }), (bytes) => {
      const text = toStoredBody(bytes);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16_384);
      expect(text.includes("\0") || !text.isWellFormed()).toBe(false);
    }),
    { numRuns: 50 },
  );
  expect(Buffer.byteLength(toStoredBody(Buffer.alloc(16_384, 0xff)))).toBe(16_383);
});

test("webhook response headers are stored with names in lower case, and repeated headers as one text", () => {
  expect(toStoredHeaders({ "X-A": ["1", "2"], "x-b": "c\0\ud800", __proto__: undefined })).toEqual({
    "x-a": "1, 2",
    "x-b": "c\ufffd\ufffd",
  });
});
