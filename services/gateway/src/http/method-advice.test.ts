import { expect, test } from "vitest";
import { findSimilarOperation, type KnownPath } from "#src/http/method-advice.ts";

const path = (url: string, ...methods: string[]): KnownPath => ({
  url,
  pattern: new RegExp(`^${url.replaceAll(/:\w+/g, "[^/]+")}$`),
  methods: new Set(methods),
});
const KNOWN = [
  path("/posts/validate", "POST"),
  path("/posts", "GET", "POST"),
  path("/posts/:id", "GET", "PATCH", "DELETE"),
  path("/posts/:id/publish", "POST"),
  path("/accounts", "GET"),
  path("/accounts/:id", "DELETE"),
  path("/media/presign", "POST"),
  path("/media/:id", "PATCH", "DELETE"),
  path("/rules/:id", "DELETE"),
];

test.each([
  ["PUT", "/posts/1", "PATCH /posts/1"],
  ["POST", "/posts/1", "PATCH /posts/1"],
  ["GET", "/accounts/me", "GET /accounts"],
  ["GET", "/posts/1/publish", "GET /posts/1"],
  ["GET", "/media/presign", "POST /media/presign"],
  ["DELETE", "/posts", "DELETE /posts/{id}"],
  ["PUT", "/posts", "PATCH /posts/{id}"],
  ["POST", "/accounts", "GET /accounts"],
  ["GET", "/rules/1", undefined],
  ["POST", "/rules/1", undefined],
  ["TRACE", "/posts", undefined],
])("a client that sent %s %s is told to use %s", (method, url, expected) => {
  expect(findSimilarOperation(method, url, KNOWN)).toBe(expected);
});

test("a client that did not send DELETE is never told to delete", () => {
  for (const method of ["GET", "HEAD", "PUT", "PATCH", "POST"])
    for (const { url } of KNOWN)
      expect(findSimilarOperation(method, url, KNOWN) ?? "").not.toMatch(/DELETE/);
});
