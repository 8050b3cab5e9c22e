import fc from "fast-check";
import { expect, test } from "vitest";
import { formatArray, parseArray } from "#src/postgres.ts";
import { anyText } from "#src/testing/any-text.ts";

test("formatting a Postgres array and parsing the result preserves any texts", () => {
  fc.assert(
    fc.property(fc.array(anyText()), (values) => {
      expect(parseArray(formatArray(values))).toEqual(values);
    }),
  );
});

test("parseArray reads Postgres array elements with and without quotes", () => {
  expect(parseArray('{posts:read,"a b","back\\\\slash","say \\"hi\\"",""}')).toEqual([
    "posts:read",
    "a b",
    "back\\slash",
    'say "hi"',
    "",
  ]);
  expect(parseArray("{}")).toEqual([]);
});
