import fc from "fast-check";
import { expect, test } from "vitest";
import { formatArray, parseArray } from "#src/postgres/arrays.ts";

test("any texts survive the way into the array form and back", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ unit: "binary" })), (values) => {
      expect(parseArray(formatArray(values))).toEqual(values);
    }),
  );
});

test("elements are read as Postgres writes them, with quotes only where it needs them", () => {
  expect(parseArray('{posts:read,"a b","back\\\\slash","say \\"hi\\"",""}')).toEqual([
    "posts:read",
    "a b",
    "back\\slash",
    'say "hi"',
    "",
  ]);
  expect(parseArray("{}")).toEqual([]);
});
