import { expect, test } from "vitest";
import { matchesAny } from "#src/http/entity-tags.ts";

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
