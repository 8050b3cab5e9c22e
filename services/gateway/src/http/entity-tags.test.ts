import { expect, test } from "vitest";
import { matchesAny } from "#src/http/entity-tags.ts";

test.each(['"a"', 'W/"a"', '"b", "a"', '"b",W/"a"', "*"])("%s names the tag", (header) => {
  expect(matchesAny(header, '"a"')).toBe(true);
});

test.each([undefined, "", "a", '"b"', '"A"', 'w/"a"'])("%s does not", (header) => {
  expect(matchesAny(header, '"a"')).toBe(false);
});
