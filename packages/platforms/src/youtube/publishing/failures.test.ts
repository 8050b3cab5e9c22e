import { expect, test } from "vitest";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { toFailure, toStepFailure } from "./failures.ts";

function answer(
  status: number,
  reason: string,
  headers: PlatformAnswer["headers"] = {},
): PlatformAnswer {
  const message = `About <a href="/quota">${reason}</a>.`;
  const errors = [{ message, domain: "youtube.video", reason }];
  return { kind: "answer", status, headers, json: { error: { code: status, message, errors } } };
}

test.each([
  [400, "invalidTitle", "content_rejected"],
  [400, "invalidDescription", "content_rejected"],
  [400, "invalidTags", "content_rejected"],
  [400, "invalidCategoryId", "content_rejected"],
  [400, "invalidPublishAt", "content_rejected"],
  [400, "invalidVideoMetadata", "content_rejected"],
  [400, "invalidFilename", "content_rejected"],
  [400, "mediaBodyRequired", "content_rejected"],
  [400, "defaultLanguageNotSet", "content_rejected"],
  [400, "badContent", "media_rejected"],
  [403, "forbiddenPrivacySetting", "content_rejected"],
  [403, "forbiddenLicenseSetting", "content_rejected"],
  [403, "insufficientPermissions", "permission_missing"],
  [403, "forbidden", "permission_missing"],
  [403, "accessNotConfigured", "app_configuration"],
  [401, "youtubeSignupRequired", "account_action_needed"],
  [403, "authenticatedUserAccountClosed", "account_action_needed"],
  [403, "authenticatedUserAccountSuspended", "account_action_needed"],
  [413, "uploadTooLarge", "media_rejected"],
])(
  "YouTube's answer %i with the error %s becomes a refusal with the code %s",
  (status, reason, code) => {
    const message = `About ${reason}.`;
    expect(toFailure(answer(status, reason))).toEqual({ kind: "refused", code, message });
  },
);

test("YouTube's error `authError` means that the access token is refused", () => {
  expect(toFailure(answer(401, "authError"))).toMatchObject({ kind: "token_refused" });
});

test.each([
  [403, "quotaExceeded", "platform_quota"],
  [403, "dailyLimitExceeded", "platform_quota"],
  [400, "uploadLimitExceeded", "platform_quota"],
  [403, "rateLimitExceeded", "rate_limited"],
  [403, "userRateLimitExceeded", "rate_limited"],
  [429, "rateLimitExceeded", "rate_limited"],
  [429, "", "rate_limited"],
])(
  'YouTube\'s answer %i with the error "%s" is reported as a limit with the code %s and does not use up an attempt',
  (status, reason, code) => {
    const failure = toFailure(answer(status, reason));
    expect(failure).toMatchObject({ kind: "retryable", code, isLimit: true });
  },
);

test("a YouTube rate limit lasts for the time in `retry-after`, or one minute without that header", () => {
  const waiting = answer(429, "rateLimitExceeded", { "retry-after": "7" });
  expect(toFailure(waiting)).toMatchObject({ retryAfterMs: 7000 });
  const silent = answer(403, "userRateLimitExceeded");
  expect(toFailure(silent)).toMatchObject({ retryAfterMs: 60_000 });
});

test.each([
  ["a 500 of YouTube", answer(500, "backendError")],
  ["a 404 with an unknown reason", answer(404, "notFound")],
  ["an HTML page of a proxy", { ...answer(400, "unread"), json: undefined }],
])(
  "a preparation step is retried after %s, which does not show whether YouTube carried out the step",
  (_name, vague) => {
    expect(toFailure(vague)).toBeUndefined();
    expect(toStepFailure(vague)).toMatchObject({ kind: "retryable", code: "platform_unavailable" });
  },
);

test("an error of YouTube has at most 300 characters, and the time to shorten it is linear in its length", () => {
  const started = process.cpuUsage();
  const message = "<".repeat(100_000);
  const json = { error: { message, errors: [{ reason: "x".repeat(1000) }] } };
  const failure = toStepFailure({ kind: "answer", status: 400, headers: {}, json });
  expect("message" in failure ? failure.message.length : 0).toBe(300);
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 1000).toBeLessThan(1000);
});
