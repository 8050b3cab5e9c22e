import { createSecretKey } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  decodeCursor,
  deriveCursorKeys,
  encodeCursor,
  encodeTextCursor,
  requireTextCursor,
} from "./list-cursor.ts";

const keyOf = (fill: number) => [createSecretKey(new Uint8Array(32).fill(fill))] as const;
const KEY = keyOf(7);
const SCOPE = ["posts", "0198c2f0-0000-7000-8000-000000000001"];

const position = fc.record({
  at: fc.date({ noInvalidDate: true }),
  id: fc.uuid(),
});

test("decoding a list cursor returns the position that was encoded", () => {
  fc.assert(
    fc.property(position, (given) => {
      expect(decodeCursor(KEY, SCOPE, encodeCursor(KEY, SCOPE, given))).toEqual(given);
    }),
  );
});

test("a list cursor with any changed character is rejected", () => {
  fc.assert(
    fc.property(
      position,
      fc.nat(),
      fc.constantFrom("A", "Z", "a", "z", "0", "9", "-", "_", "=", "+", " "),
      (given, place, character) => {
        const cursor = encodeCursor(KEY, SCOPE, given);
        const at = place % cursor.length;
        const forged = cursor.slice(0, at) + character + cursor.slice(at + 1);
        fc.pre(forged !== cursor);
        expect(decodeCursor(KEY, SCOPE, forged)).toBeUndefined();
      },
    ),
  );
});

test("a text that is not a list cursor is rejected", () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(decodeCursor(KEY, SCOPE, text)).toBeUndefined();
    }),
  );
});

test("a list cursor is rejected in another workspace, with other filters, and when it was signed with another key", () => {
  const cursor = encodeCursor(KEY, SCOPE, { at: new Date(0), id: SCOPE[1] ?? "" });

  expect(
    decodeCursor(KEY, ["posts", "0198c2f0-0000-7000-8000-000000000002"], cursor),
  ).toBeUndefined();
  expect(decodeCursor(KEY, [...SCOPE, "failed"], cursor)).toBeUndefined();
  expect(decodeCursor(keyOf(0), SCOPE, cursor)).toBeUndefined();
});

test("list cursors stay valid while the key that signs them is rotated", () => {
  const [old, both, turned] = [
    deriveCursorKeys("posts", ["old"]),
    deriveCursorKeys("posts", ["old", "new"]),
    deriveCursorKeys("posts", ["new", "old"]),
  ];
  const given = { at: new Date(0), id: SCOPE[1] ?? "" };
  expect(decodeCursor(both, SCOPE, encodeCursor(old, SCOPE, given))).toEqual(given);
  expect(decodeCursor(turned, SCOPE, encodeCursor(both, SCOPE, given))).toEqual(given);
  expect(decodeCursor(both, SCOPE, encodeCursor(turned, SCOPE, given))).toEqual(given);
});

const TEXT_SCOPE = ["comments", "0198c2f0-0000-7000-8000-000000000001"];
const REFUSAL = expect.objectContaining({ reason: "invalid_cursor" });

const text = fc.string({ minLength: 1, unit: "grapheme" });

test("decoding a text cursor returns the text that was encoded", () => {
  fc.assert(
    fc.property(text, (given) => {
      expect(requireTextCursor(KEY, TEXT_SCOPE, encodeTextCursor(KEY, TEXT_SCOPE, given))).toBe(
        given,
      );
    }),
  );
});

test("a text cursor stays valid after a new signing key is added, and becomes invalid after its key is removed", () => {
  const cursor = encodeTextCursor(KEY, TEXT_SCOPE, "after=5");

  expect(requireTextCursor([...keyOf(8), ...KEY], TEXT_SCOPE, cursor)).toBe("after=5");
  expect(() => requireTextCursor(keyOf(8), TEXT_SCOPE, cursor)).toThrow(REFUSAL);
});

test("a text cursor with any changed character is rejected", () => {
  fc.assert(
    fc.property(text, fc.nat(), fc.constantFrom("A", "z", "0", "-", "="), (given, place, one) => {
      const cursor = encodeTextCursor(KEY, TEXT_SCOPE, given);
      const at = place % cursor.length;
      const forged = cursor.slice(0, at) + one + cursor.slice(at + 1);
      fc.pre(forged !== cursor);
      expect(() => requireTextCursor(KEY, TEXT_SCOPE, forged)).toThrow(REFUSAL);
    }),
  );
});

test("decoding rejects a text cursor of another scope, and a text that is not a cursor", () => {
  const cursor = encodeTextCursor(KEY, [...TEXT_SCOPE, "media-1"], "after=5");

  expect(() => requireTextCursor(KEY, [...TEXT_SCOPE, "media-2"], cursor)).toThrow(REFUSAL);
  fc.assert(
    fc.property(fc.string(), (other) => {
      expect(() => requireTextCursor(KEY, TEXT_SCOPE, other)).toThrow(REFUSAL);
    }),
  );
});
