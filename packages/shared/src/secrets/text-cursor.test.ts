import fc from "fast-check";
import { expect, test } from "vitest";
import { encodeTextCursor, requireTextCursor } from "./text-cursor.ts";

const KEY = [new Uint8Array(32).fill(7)] as const;
const OTHER_KEY = [new Uint8Array(32).fill(8)] as const;
const SCOPE = ["comments", "0198c2f0-0000-7000-8000-000000000001"];
const REFUSAL = expect.objectContaining({ reason: "invalid_cursor" });

const text = fc.string({ minLength: 1, unit: "grapheme" });

test("decoding a text cursor returns the text that was encoded", () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(requireTextCursor(KEY, SCOPE, encodeTextCursor(KEY, SCOPE, given))).toBe(given);
    }),
  );
});

test("a text cursor stays valid after a new signing key is added, and becomes invalid after its key is removed", () => {
  const cursor = encodeTextCursor(KEY, SCOPE, "after=5");

  expect(requireTextCursor([...OTHER_KEY, ...KEY], SCOPE, cursor)).toBe("after=5");
  expect(() => requireTextCursor(OTHER_KEY, SCOPE, cursor)).toThrow(REFUSAL);
});

test("a text cursor with any changed character is rejected", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.constantFrom("A", "z", "0", "-", "="), (given, place, one) => {
      const cursor = encodeTextCursor(KEY, SCOPE, given);
      const at = place % cursor.length;
      const forged = cursor.slice(0, at) + one + cursor.slice(at + 1);
      fc.pre(forged !== cursor);
      expect(() => requireTextCursor(KEY, SCOPE, forged)).toThrow(REFUSAL);
    }),
  );
});

test("decoding rejects a text cursor of another scope, and a text that is not a cursor", () => {
  const cursor = encodeTextCursor(KEY, [...SCOPE, "media-1"], "after=5");

  expect(() => requireTextCursor(KEY, [...SCOPE, "media-2"], cursor)).toThrow(REFUSAL);
  fc.assert(
    fc.property(fc.string(), (other) => {
      expect(() => requireTextCursor(KEY, SCOPE, other)).toThrow(REFUSAL);
    }),
  );
});
