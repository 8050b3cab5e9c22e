import { expect, test } from "vitest";
import { findSimilarPath } from "./similar-path.ts";

const KNOWN = ["/api/v1/accounts", "/api/v1/posts", "/api/v1/posts/validate", "/api/v1/quota"];

test.each([
  ["/api/v1/post", "/api/v1/posts"],
  ["/api/posts", "/api/v1/posts"],
  ["/v1/posts", "/api/v1/posts"],
  ["/api/v1/account", "/api/v1/accounts"],
  ["/api/v1/posts/validat", "/api/v1/posts/validate"],
  ["/api/v1/nothing-of-the-kind", undefined],
  [`/api/v1/${"p".repeat(100)}`, undefined],
])("the path %s is most similar to %s", (path, similar) => {
  expect(findSimilarPath(path, KNOWN)).toBe(similar);
});
