import { isId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { normalizeTarget, requestIdOf } from "#src/http/incoming-request.ts";

test.each(["a", "!~", "my-request/1", "x".repeat(128)])(
  "the client's request id %j is kept",
  (id) => {
    expect(requestIdOf(id)).toBe(id);
  },
);

test.each([undefined, "", "x".repeat(129), "a b", "a\n", "a\u007f", "é", ["a"], ["a", "b"]])(
  "the request id %j is replaced by a new UUIDv7",
  (header) => {
    const id = requestIdOf(header);
    expect(isId(id)).toBe(true);
    expect(id[14]).toBe("7");
    expect(requestIdOf(header)).not.toBe(id);
  },
);

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
])("the request target %j is routed as %j", (target, expected) => {
  expect(normalizeTarget(target)).toBe(expected);
});
