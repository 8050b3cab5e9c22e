import { PostriderError } from "@postrider/client";
import { expect, test } from "vitest";
import { isUnanswered } from "./sending.ts";

test("a refusal after a request without an answer does not say what became of that request", () => {
  const refusal = {
    code: "workspace_forbidden",
    message: "any",
    status: 403,
    details: [],
    requestId: null,
    retryAfterSeconds: null,
  };
  expect(isUnanswered(new PostriderError(refusal))).toBe(false);
  expect(isUnanswered(new PostriderError({ ...refusal, idempotencyKey: "k" }))).toBe(true);
});
