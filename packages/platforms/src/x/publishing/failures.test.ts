import { describe, expect, test } from "vitest";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { toFailure, toRepeatableFailure } from "./failures.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

function limited(
  headers: Readonly<Record<string, number>>,
  type = "about:blank",
): Record<string, unknown> {
  const texts = Object.entries(headers).map(([name, value]) => [name, String(value)]);
  const json = { title: "Too Many Requests", detail: "Too Many Requests", type, status: 429 };
  const answer = { kind: "answer", status: 429, headers: Object.fromEntries(texts), json };
  return { ...toRepeatableFailure(answer as PlatformAnswer) };
}

const inMs = (ms: number) => Math.ceil((Date.now() + ms) / 1000);

describe("limits of X", () => {
  test("when X's limit of 24 hours for the user is used up, the account waits until that limit ends and not for 15 minutes", () => {
    const failure = limited({
      "x-rate-limit-remaining": 3,
      "x-rate-limit-reset": inMs(5 * MINUTE_MS),
      "x-user-limit-24hour-remaining": 0,
      "x-user-limit-24hour-reset": inMs(9 * HOUR_MS),
      "x-app-limit-24hour-remaining": 12,
      "x-app-limit-24hour-reset": inMs(20 * HOUR_MS),
    });
    expect(failure).toMatchObject({ code: "platform_quota", isLimit: true });
    expect(failure).not.toHaveProperty("isOfApp");
    expect(failure["retryAfterMs"]).toBeGreaterThan(8.9 * HOUR_MS);
    expect(failure["retryAfterMs"]).toBeLessThan(9.1 * HOUR_MS);
  });

  test("when X's limit of 24 hours for the app is used up, all accounts wait until that limit ends", () => {
    const failure = limited({
      "x-rate-limit-remaining": 0,
      "x-rate-limit-reset": inMs(5 * MINUTE_MS),
      "x-app-limit-24hour-remaining": 0,
      "x-app-limit-24hour-reset": inMs(20 * HOUR_MS),
    });
    expect(failure).toMatchObject({ code: "platform_quota", isLimit: true, isOfApp: true });
    expect(failure["retryAfterMs"]).toBeGreaterThan(19.9 * HOUR_MS);
  });

  test("a used-up window of 15 minutes of X is a rate limit of the account until its end", () => {
    const failure = limited({
      "x-rate-limit-remaining": 0,
      "x-rate-limit-reset": inMs(5 * MINUTE_MS),
    });
    expect(failure).toMatchObject({ code: "rate_limited", isLimit: true });
    expect(failure["retryAfterMs"]).toBeLessThan(6 * MINUTE_MS);
  });

  test("the usage cap of the app at X makes all accounts wait for hours", () => {
    const failure = limited({}, "https://api.twitter.com/2/problems/usage-capped");
    expect(failure).toMatchObject({ code: "platform_quota", isOfApp: true });
    expect(failure["retryAfterMs"]).toBeGreaterThanOrEqual(6 * HOUR_MS);
  });
});

test.each([
  "A post can contain at most one cashtag.",
  "You attempted to reply to a Tweet that is deleted or not visible to you.",
  "You can only reply to or quote posts where you are mentioned.",
])("X's refusal %j is about the content and not about the account", (detail) => {
  const json = { title: "Forbidden", detail, type: "about:blank", status: 403 };
  const answer: PlatformAnswer = { kind: "answer", status: 403, headers: {}, json };
  expect(toFailure(answer)).toEqual({ kind: "refused", code: "content_rejected", message: detail });
});
