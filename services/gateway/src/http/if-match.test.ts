import { describe, expect, it } from "vitest";
import { parseIfMatch } from "#src/http/if-match.ts";

describe("parseIfMatch", () => {
  it("has no condition without a header", () => {
    expect(parseIfMatch(undefined)).toBeUndefined();
  });

  it.each(["*", " * "])("takes any version for %j", (header) => {
    expect(parseIfMatch(header)).toBe("any");
  });

  it.each<[string, bigint[]]>([
    ['"3"', [3n]],
    ['"3", "4"', [3n, 4n]],
    ['"4","3"\t,  "4"', [4n, 3n]],
    [', "3",, ', [3n]],
    ['W/"3", "4"', [4n]],
    ['"3", "abc", "a,b"', [3n]],
    ['"999999999999999999"', [999_999_999_999_999_999n]],
  ])("reads the versions of %j", (header, versions) => {
    expect(parseIfMatch(header)).toEqual(versions);
  });

  it.each([
    "",
    ",",
    'W/"3"',
    'w/"3"',
    '""',
    '"0"',
    '"03"',
    '"-3"',
    '"3.0"',
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
  ])("finds no version in %j", (header) => {
    expect(parseIfMatch(header)).toEqual([]);
  });
});
