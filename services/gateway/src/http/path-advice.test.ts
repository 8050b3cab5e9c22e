import fc from "fast-check";
import { expect, test } from "vitest";
import {
  distance,
  findSimilarOperation,
  findSimilarPath,
  type KnownPath,
} from "#src/http/path-advice.ts";

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

const PATHS = ["/api/v1/accounts", "/api/v1/posts", "/api/v1/posts/validate", "/api/v1/quota"];

test.each([
  ["/api/v1/post", "/api/v1/posts"],
  ["/api/posts", "/api/v1/posts"],
  ["/v1/posts", "/api/v1/posts"],
  ["/api/v1/account", "/api/v1/accounts"],
  ["/api/v1/posts/validat", "/api/v1/posts/validate"],
  ["/api/v1/nothing-of-the-kind", undefined],
  [`/api/v1/${"p".repeat(100)}`, undefined],
])("the path %s is most similar to %s", (path, similar) => {
  expect(findSimilarPath(path, PATHS)).toBe(similar);
});

/** The distance without any bound, from its definition. */
function editDistance(a: string, b: string): number {
  if (a === "" || b === "") return a.length + b.length;
  const replaced = editDistance(a.slice(1), b.slice(1)) + (a.charAt(0) === b.charAt(0) ? 0 : 1);
  return Math.min(replaced, editDistance(a.slice(1), b) + 1, editDistance(a, b.slice(1)) + 1);
}

test("the distance of two texts is the number of changed characters, or Infinity above the maximum", () => {
  const texts = fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 });
  fc.assert(
    fc.property(texts, texts, fc.nat({ max: 4 }), (a, b, max) => {
      const expected = editDistance(a, b);
      expect(distance(a, b, max)).toBe(expected <= max ? expected : Infinity);
    }),
  );
});

/** A text that counts how often one of its characters is read. */
class CountedText extends String {
  reads = 0;
  override charAt(at: number): string {
    this.reads += 1;
    return super.charAt(at);
  }
}

test("the search for a similar path reads no path whose length differs by more than four characters, and a few characters of others", () => {
  const far = new CountedText("/api/v1/posts/{id}/publish");
  findSimilarPath("/wp", [far as unknown as string]);
  expect(far.reads).toBe(0);
  const near = new CountedText(`/${"x".repeat(79)}`);
  findSimilarPath(`/${"y".repeat(79)}`, [near as unknown as string]);
  expect(near.reads).toBeLessThan(100);
});
