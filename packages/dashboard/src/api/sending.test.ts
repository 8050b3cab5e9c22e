import { PostriderError } from "@postrider/client";
import { expect, test } from "vitest";
import { isBlocked, isUnanswered, keyed } from "./sending.ts";

function refusal(status: number, code: string, idempotencyKey?: string): PostriderError {
  const fields = { message: "any", details: [], requestId: null, retryAfterSeconds: null };
  return new PostriderError({ ...fields, status, code, idempotencyKey });
}

test("a refusal after a request without an answer does not say what became of that request", () => {
  expect(isUnanswered(refusal(403, "workspace_forbidden"))).toBe(false);
  expect(isUnanswered(refusal(403, "workspace_forbidden", "k"))).toBe(true);
});

test.each([
  [401, "unauthorized"],
  [403, "workspace_forbidden"],
  [403, "insufficient_scope"],
  [404, "not_found"],
  [429, "rate_limited"],
])("a repeated request that is refused with %i %s is still without an answer", (status, code) => {
  expect(isUnanswered(refusal(status, code))).toBe(false);
  expect(isUnanswered(refusal(status, code), true)).toBe(true);
});

test("a repeated request is answered by what is decided after its key was looked at", () => {
  expect(isUnanswered(refusal(422, "validation_failed"), true)).toBe(false);
  expect(isUnanswered(refusal(409, "account_reconnect_required", "k"), true)).toBe(false);
  expect(isUnanswered(refusal(409, "idempotency_conflict"), true)).toBe(true);
});

test("only a refusal that lasts keeps a request without an answer from being sent again by itself", () => {
  const lasting = [refusal(403, "insufficient_scope"), refusal(404, "not_found")];
  expect(lasting.map(isBlocked)).toEqual([true, true]);
  const passing = [
    refusal(401, "unauthorized"),
    refusal(409, "idempotency_conflict"),
    refusal(503, "unavailable"),
    new TypeError("no connection"),
  ];
  expect(passing.map(isBlocked)).toEqual([false, false, false, false]);
});

test("a request that is sent again has the key of the first, and another request its own", () => {
  const hide = keyed(undefined, "hide");
  expect(keyed(hide, "hide")).toBe(hide);
  const unhide = keyed(hide, "unhide");
  expect(unhide.key).not.toBe(hide.key);
  expect(keyed(unhide, "hide").key).not.toBe(hide.key);
});
