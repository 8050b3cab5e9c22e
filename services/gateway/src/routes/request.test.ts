import { createHash } from "node:crypto";
import type { FastifyRequest } from "fastify";
import { expect, test } from "vitest";
import { fingerprint, readIdempotency } from "#src/routes/request.ts";

const requestWith = (key: string) =>
  ({ headers: { "idempotency-key": key }, body: undefined }) as unknown as FastifyRequest;

test.each(["a", "!", "~", '"quoted"', "a,b", "x".repeat(255)])(
  "the Idempotency-Key %j is accepted",
  (key) => {
    expect(readIdempotency(requestWith(key))?.key).toBe(key);
  },
);

test.each(["", "x".repeat(256), "a b", "a, b", "a\t", "a\n", "\u007f", "é", "키"])(
  "the Idempotency-Key %j is refused",
  (key) => {
    expect(() => readIdempotency(requestWith(key))).toThrow("invalid_request");
  },
);

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const same = (a: string, b: string) => fingerprint(JSON.parse(a)) === fingerprint(JSON.parse(b));

test("the fingerprint of a body is the SHA-256 of its JSON with sorted keys, in lower-case hex", () => {
  expect(fingerprint({ b: [2, { d: null, c: "é" }], a: true })).toBe(
    sha256('{"a":true,"b":[2,{"c":"é","d":null}]}'),
  );
});

test("the fingerprint of a body does not depend on the order of keys, white space or escapes", () => {
  expect(same('{"a":1,"b":{"c":2,"d":3}}', ' { "b" : {"d":3, "c":2.0} , "a":1e0 }')).toBe(true);
  expect(same('{"a":"é/"}', '{"a":"\\u00e9\\/"}')).toBe(true);
});

test.each([
  ['{"a":[1,2]}', '{"a":[2,1]}'],
  ['{"a":1}', '{"a":"1"}'],
  ['{"a":null}', "{}"],
  ["[]", "{}"],
  ['{"a":{"b":1}}', '{"a.b":1}'],
  ['{"a":"b\\",\\"c\\":\\"d"}', '{"a":"b","c":"d"}'],
  ['{"a":"é"}', '{"a":"e\u0301"}'],
  ['["a","b"]', '["a,b"]'],
  ["null", '""'],
])("the JSON values %s and %s have different fingerprints", (a, b) => {
  expect(same(a, b)).toBe(false);
});

test("the fingerprint of a body sorts keys that look like integers like all other keys", () => {
  expect(fingerprint({ b: 1, 10: 2, 9: 3 })).toBe(sha256('{"10":2,"9":3,"b":1}'));
});

test("an absent body has a different fingerprint from every other body", () => {
  const none = fingerprint(undefined);
  expect(none).toMatch(/^[0-9a-f]{64}$/);
  expect([fingerprint(null), fingerprint({}), fingerprint("")]).not.toContain(none);
});
