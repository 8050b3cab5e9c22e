import { describe, expect, test } from "vitest";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { type PlatformAnswer, toAnswer } from "#src/http/platform-answer.ts";
import { isMissing, toStepFailure, toVisibleFailure } from "./failures.ts";

function answer(
  code: number,
  { subcode, status = 400, usage }: { subcode?: number; status?: number; usage?: string } = {},
): PlatformAnswer {
  const error = { message: "no", type: "OAuthException", code, error_subcode: subcode };
  const headers = usage === undefined ? {} : { "x-business-use-case-usage": usage };
  return toAnswer(status, headers, JSON.stringify({ error }));
}

describe("errors of the Graph API on a Facebook Page", () => {
  test.each<[number, number | undefined, string, string?]>([
    [190, 463, "token_refused"],
    [190, 459, "refused", "account_action_needed"],
    [102, undefined, "token_refused"],
    [10, undefined, "refused", "permission_missing"],
    [200, undefined, "refused", "permission_missing"],
    [299, undefined, "refused", "permission_missing"],
    [3, undefined, "refused", "app_configuration"],
    [4, undefined, "retryable", "rate_limited"],
    [32, undefined, "retryable", "rate_limited"],
    [341, undefined, "retryable", "rate_limited"],
    [613, undefined, "retryable", "rate_limited"],
    [80_001, undefined, "retryable", "rate_limited"],
    [100, 1_390_008, "retryable", "rate_limited"],
    [368, undefined, "refused", "account_action_needed"],
    [506, undefined, "refused", "duplicate_on_platform"],
    [100, 1_366_051, "refused", "duplicate_on_platform"],
    [100, 1_366_046, "refused", "media_rejected"],
    [100, 1_363_128, "refused", "media_rejected"],
    [100, 1_609_005, "refused", "content_rejected"],
    [1_346_003, undefined, "refused", "content_rejected"],
    [100, 1_404_102, "refused", "account_action_needed"],
    [4_854_002, undefined, "refused", "account_action_needed"],
    [100, undefined, "refused", "content_rejected"],
    [99_999, undefined, "refused", "content_rejected"],
  ])(
    "Graph API error %s (subcode %s) becomes the failure %s (code %s), whether it answers a preparation step or a publishing call",
    (code, subcode, kind, name) => {
      const given = answer(code, subcode === undefined ? {} : { subcode });
      const expected = name === undefined ? { kind } : { kind, code: name };
      expect(toStepFailure(given, MEANINGS)).toMatchObject(expected);
      expect(toVisibleFailure(given, MEANINGS)).toMatchObject(expected);
    },
  );

  test("Facebook's refusal of a video for a missing permission, which has the code of an invalid parameter, becomes permission_missing", () => {
    const error = { message: "(#100) No permission to publish the video", code: 100 };
    const given = toAnswer(400, {}, JSON.stringify({ error }));
    const expected = { kind: "refused", code: "permission_missing" };
    expect(toStepFailure(given, MEANINGS)).toMatchObject(expected);
    expect(toVisibleFailure(given, MEANINGS)).toMatchObject(expected);
  });

  test.each([
    [1, undefined, 400],
    [2, undefined, 400],
    [100, 33, 400],
    [1_349_125, undefined, 400],
    [368, undefined, 500],
    [506, undefined, 429],
    [100, undefined, 408],
  ])(
    "Graph API error %s (subcode %s) with HTTP %s leaves the outcome of a publishing call unknown",
    (code, subcode, status) => {
      const given = answer(code, subcode === undefined ? { status } : { status, subcode });
      expect(toVisibleFailure(given, MEANINGS)).toMatchObject({ kind: "unknown" });
    },
  );

  test("a preparation step is retried after a transient Graph API error and when the Graph API does not find the requested post or file", () => {
    for (const given of [answer(2), answer(100, { subcode: 33 })])
      expect(toStepFailure(given, MEANINGS)).toEqual({
        kind: "retryable",
        code: "platform_unavailable",
        message: "no",
      });
    expect(isMissing(answer(100, { subcode: 33 }))).toBe(true);
    expect(isMissing(answer(100))).toBe(false);
  });
});

describe("rate limits of the Graph API", () => {
  const limited = (usage?: string) =>
    toStepFailure(answer(80_001, usage === undefined ? {} : { usage }), MEANINGS);

  test("a Graph API rate limit lasts as long as the longest time that the usage header states", () => {
    const entry = (minutes: number) => ({
      type: "pages",
      estimated_time_to_regain_access: minutes,
    });
    const usage = JSON.stringify({ 1: [entry(3), entry(12)], 2: [entry(0)] });
    expect(limited(usage)).toMatchObject({ retryAfterMs: 12 * 60_000, isLimit: true });
  });

  test.each([
    ["without a usage header", undefined],
    ["with an invalid usage header", "{"],
    ["with an unknown form of the usage header", '{"1":[null,5,{}]}'],
  ])("a Graph API rate limit %s lasts five minutes", (_name, usage) => {
    expect(limited(usage)).toMatchObject({ retryAfterMs: 5 * 60_000, isLimit: true });
  });
});
