import { expect, test } from "vitest";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { jsonHandle } from "#src/publishing/handles.ts";
import { toEnding, toFailure } from "./failures.ts";
import { restartAfterPause } from "./retry-pause.ts";

const HOUR_MS = 3_600_000;
const NOW = new Date("2026-11-28T12:00:00Z");

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

test("a TikTok post that ended because of too many posts is sent again after an hour, for a day", () => {
  const { isTemporary, limitMs } = toEnding("spam_risk_too_many_posts");
  expect(isTemporary).toBe(true);
  let handles = {};
  for (let count = 1; count <= 24; count += 1) {
    const next = restartAfterPause(handles, NOW, { timeScale: 1, limitMs });
    const until = { count, restUntil: NOW.getTime() + HOUR_MS };
    expect(jsonHandle("endings").read(next ?? {})).toEqual(until);
    handles = next ?? {};
  }
  expect(restartAfterPause(handles, NOW, { timeScale: 1, limitMs })).toBeUndefined();
});
