import { expect, test } from "vitest";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { toEnding, toFailure } from "./failures.ts";

const HOUR_MS = 3_600_000;

function answer(status: number, code: string): PlatformAnswer {
  return { kind: "answer", status, headers: {}, json: { error: { code, message: "why" } } };
}

test("TikTok's limit of the app's active users of a day is a wait of at most a day and not a wrong configuration of the app", () => {
  const failure = toFailure(answer(403, "reached_active_user_cap"));
  expect(failure).toMatchObject({ kind: "retryable", code: "platform_quota", isLimit: true });
  const waitMs = failure?.kind === "retryable" ? (failure.retryAfterMs ?? 0) : 0;
  expect(waitMs).toBeGreaterThanOrEqual(HOUR_MS);
  expect(waitMs).toBeLessThanOrEqual(24 * HOUR_MS);
});

test.each(["access_token_invalid", "invalid_grant", "token_expired"])(
  "HTTP 401 of TikTok with the code %s means that the access token is refused",
  (code) => {
    expect(toFailure(answer(401, code))).toMatchObject({ kind: "token_refused" });
  },
);

test("HTTP 401 of TikTok about a scope means that the permission is missing", () => {
  expect(toFailure(answer(401, "scope_not_authorized"))).toMatchObject({
    kind: "refused",
    code: "permission_missing",
  });
});

test("TikTok's end of a post because of too many posts is a limit that is waited for by the hour", () => {
  expect(toEnding("spam_risk_too_many_posts")).toEqual({
    code: "platform_quota",
    isTemporary: true,
    limitMs: HOUR_MS,
  });
});
