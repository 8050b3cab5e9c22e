import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeCursor, deriveCursorKeys, encodeCursor } from "./list-cursor.ts";

const KEY = [new Uint8Array(32).fill(7)] as const;
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
  expect(decodeCursor([new Uint8Array(32)], SCOPE, cursor)).toBeUndefined();
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
