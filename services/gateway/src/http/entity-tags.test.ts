import { expect, test } from "vitest";
import { matchesAny, parseIfMatch } from "#src/http/entity-tags.ts";

test("a request without an If-Match header has no precondition", () => {
  expect(parseIfMatch(undefined)).toBeUndefined();
});

test.each(["*", " * "])("If-Match %j accepts any version", (header) => {
  expect(parseIfMatch(header)).toBe("any");
});

test.each<[string, bigint[]]>([
  ['"3"', [3n]],
  ['"3", "4"', [3n, 4n]],
  ['"4","3"\t,  "4"', [4n, 3n]],
  [', "3",, ', [3n]],
  ['W/"3", "4"', [4n]],
  ['"3", "abc", "a,b"', [3n]],
  ['"3.abcdefgh_-1"', [3n]],
  ['"999999999999999999"', [999_999_999_999_999_999n]],
])(
  "If-Match %j accepts exactly the post versions of its strong ETags, and ignores its other ETags",
  (header, versions) => {
    expect(parseIfMatch(header)).toEqual(versions);
  },
);

test.each([
  "",
  ",",
  'W/"3"',
  'w/"3"',
  '""',
  '"0"',
  '"03"',
  '"-3"',
  '"3.0"',
  '"3.abcdefgh_-12"',
  '".abcdefgh_-1"',
  '"3 "',
  '" 3"',
  '"9999999999999999999999"',
  "3",
  "'3'",
  '"3',
  '3"',
  '"3" "4"',
  '"3"; "4"',
  '"3", 4',
  '"3", *',
  '*, "3"',
  "**",
  "null",
  `${'"a",'.repeat(10_000)}"`,
])("If-Match %j matches no version", (header) => {
  expect(parseIfMatch(header)).toEqual([]);
});

test.each(['"a"', 'W/"a"', '"b", "a"', '"b",W/"a"', "*"])(
  'If-None-Match %s matches the ETag "a"',
  (header) => {
    expect(matchesAny(header, '"a"')).toBe(true);
  },
);

test.each([undefined, "", "a", '"b"', '"A"', 'w/"a"'])(
  'If-None-Match %s does not match the ETag "a"',
  (header) => {
    expect(matchesAny(header, '"a"')).toBe(false);
  },
);
