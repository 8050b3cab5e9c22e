import { expect, test } from "vitest";
import { normalizeTarget } from "#src/routes/target.ts";

test.each([
  ["/", "/"],
  ["/api/v1/posts?limit=1&cursor=%zz", "/api/v1/posts?limit=1&cursor=%zz"],
  ["/a%20b/%F0%9F%99%82", "/a%20b/%F0%9F%99%82"],
  ["/a/%ff?b=%ff", "/a/%25ff?b=%ff"],
  ["/a/%", "/a/%25"],
  ["/a/%ed%a0%80", "/a/%25ed%25a0%2580"],
  ["http://example.org/a?b=http://c", "/a?b=http://c"],
  ["HTTPS://example.org:8080/a", "/a"],
  ["//example.org/a", "//example.org/a"],
  ["*", "*"],
])("the target %j is routed as %j", (target, expected) => {
  expect(normalizeTarget(target)).toBe(expected);
});
