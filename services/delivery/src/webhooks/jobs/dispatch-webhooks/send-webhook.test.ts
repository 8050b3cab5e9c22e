import fc from "fast-check";
import { expect, test } from "vitest";
import { toStoredBody, toStoredHeaders } from "./send-webhook.ts";

test("bytes of a webhook response that are not UTF-8 are stored as replacement characters", () => {
  expect(toStoredBody(Buffer.from([0x61, 0xff, 0x00, 0x62]), 200)).toBe("a\ufffd\ufffdb");
});

test("a webhook response body of any bytes is stored as at most 16 KiB of UTF-8 without the character U+0000", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 16_384, size: "max" }), (bytes) => {
      const text = toStoredBody(bytes, 500);
      expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16_384);
      expect(text.includes("\0") || !text.isWellFormed()).toBe(false);
    }),
    { numRuns: 50 },
  );
  expect(Buffer.byteLength(toStoredBody(Buffer.alloc(16_384, 0xff), 500))).toBe(16_383);
});

test.each([200, 204, 299])(
  "of a response with the status %i, at most 2 KiB are stored",
  (status) => {
    expect(toStoredBody(Buffer.alloc(16_384, "a"), status)).toBe("a".repeat(2_048));
    expect(toStoredBody(Buffer.from("é".repeat(8_000)), status)).toBe("é".repeat(1_024));
  },
);

test.each([199, 300, 410, 500])(
  "of a response with the status %i, up to 16 KiB are stored",
  (status) => {
    expect(toStoredBody(Buffer.alloc(20_000, "a"), status)).toHaveLength(16_384);
  },
);

test("webhook response headers are stored with names in lower case, and repeated headers as one text", () => {
  expect(
    toStoredHeaders({ "X-A": ["1", "2"], "x-b": "c\0\ud800", __proto__: undefined }, 200),
  ).toEqual({
    "x-a": "1, 2",
    "x-b": "c\ufffd\ufffd",
  });
});

test("of the headers of a successful response at most 2 KiB are stored, of another response all", () => {
  const headers = { a: "1", b: "x".repeat(3_000), c: "3" };
  expect(toStoredHeaders(headers, 200)).toEqual({ a: "1" });
  expect(toStoredHeaders(headers, 500)).toEqual(headers);
});
