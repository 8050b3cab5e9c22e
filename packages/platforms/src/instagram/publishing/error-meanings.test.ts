import { expect, test } from "vitest";
import { toVisibleFailure } from "#src/graph-api/failures.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import {
  findQuotaFailure,
  meaningOfStatus,
  MEANINGS,
  toInstagramFailure,
} from "./error-meanings.ts";

function answer(code: number, subcode?: number, status = 400): PlatformAnswer {
  const error = { message: "message", type: "OAuthException", code, error_subcode: subcode };
  return { kind: "answer", status, headers: {}, json: { error } };
}

test.each([
  [190, 463, { kind: "token_refused" }],
  [102, undefined, { kind: "token_refused" }],
  [190, 459, { kind: "refused", code: "account_action_needed" }],
  [10, undefined, { kind: "refused", code: "permission_missing" }],
  [200, undefined, { kind: "refused", code: "permission_missing" }],
  [3, undefined, { kind: "refused", code: "app_configuration" }],
  [80_002, undefined, { kind: "retryable", code: "rate_limited", isLimit: true }],
  [4, undefined, { kind: "retryable", code: "rate_limited", isLimit: true }],
  [9, 2_207_042, { kind: "retryable", code: "platform_quota", isLimit: true }],
  [4, 2_207_051, { kind: "refused", code: "account_action_needed" }],
  [25, 2_207_050, { kind: "refused", code: "account_action_needed" }],
  [368, undefined, { kind: "refused", code: "account_action_needed" }],
  [36_000, 2_207_004, { kind: "refused", code: "media_rejected" }],
  [36_001, 2_207_005, { kind: "refused", code: "media_rejected" }],
  [36_003, 2_207_009, { kind: "refused", code: "media_rejected" }],
  [352, 2_207_026, { kind: "refused", code: "media_rejected" }],
  [36_004, 2_207_010, { kind: "refused", code: "content_rejected" }],
  [100, 2_207_028, { kind: "refused", code: "content_rejected" }],
  [1, 2_207_057, { kind: "refused", code: "content_rejected" }],
  [100, undefined, { kind: "refused", code: "content_rejected" }],
  [9004, 2_207_052, { kind: "retryable", code: "media_fetch_failed" }],
  [-2, 2_207_003, { kind: "retryable", code: "media_fetch_failed" }],
  [-2, 2_207_020, { kind: "retryable", code: "platform_unavailable" }],
  [-1, 2_207_001, { kind: "retryable", code: "platform_unavailable" }],
  [1, undefined, { kind: "retryable", code: "platform_unavailable" }],
  [2, undefined, { kind: "retryable", code: "platform_unavailable" }],
  [9007, 2_207_027, { kind: "retryable", code: "platform_unavailable" }],
  [24, 2_207_008, { kind: "retryable", code: "platform_unavailable" }],
  [100, 33, { kind: "retryable", code: "platform_unavailable" }],
])(
  "Instagram's error %i (subcode %s) in a preparation step becomes the failure %j",
  (code, subcode, failure) => {
    expect(toInstagramFailure(answer(code, subcode))).toMatchObject(failure);
  },
);

test.each([
  [1, undefined],
  [2, undefined],
  [-1, 2_207_032],
  [24, 2_207_008],
  [24, 2_207_006],
  [100, 33],
  [9007, 2_207_027],
])(
  "Instagram's error %i (subcode %s) leaves the outcome of a publishing call unknown",
  (code, subcode) => {
    expect(toVisibleFailure(answer(code, subcode), MEANINGS)).toMatchObject({ kind: "unknown" });
  },
);

test.each([408, 409, 425, 429, 500, 502])(
  "HTTP %i leaves the outcome of a publishing call to Instagram unknown",
  (status) => {
    expect(toVisibleFailure(answer(100, undefined, status), MEANINGS)).toMatchObject({
      kind: "unknown",
    });
  },
);

test("only Instagram's error subcode for the daily limit becomes a quota failure", () => {
  expect(findQuotaFailure(answer(9))).toBeUndefined();
  expect(findQuotaFailure(answer(9, 2_207_042))).toMatchObject({ retryAfterMs: 900_000 });
});

test.each([
  ["Error: Media upload has failed with error code 2207026", "media_rejected"],
  ["2207010", "content_rejected"],
  ["Error: 2207077", "media_fetch_failed"],
  ["Error: 2207053", "transient"],
  ["Error: something new 2207999", "transient"],
  ["", "transient"],
])("the status text %j of an Instagram container is classified as %s", (status, meaning) => {
  expect(meaningOfStatus(status)).toBe(meaning);
});
