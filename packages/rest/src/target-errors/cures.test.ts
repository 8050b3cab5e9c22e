import { PLATFORM_IDS } from "@postrider/platforms/platform-id";
import { expect, test } from "vitest";
import { CURE_KINDS } from "#src/dashboard/cures.ts";
import { TARGET_ERROR_CODES } from "./catalogue.ts";
import { causeWords, cureFor, listCures } from "./cures.ts";

const STATUSES = ["pending", "published", "failed", "delete_failed", "cancelled"];

test("every error code has a cure with words in both languages and without placeholders, on each platform and in each status", () => {
  const faulty = TARGET_ERROR_CODES.flatMap((code) =>
    PLATFORM_IDS.flatMap((platform) =>
      STATUSES.map((status) => ({
        code,
        platform,
        status,
        cure: cureFor({ code, platform, status, retryable: false }),
        cause: causeWords(code),
      })),
    ),
  ).filter(
    ({ cure: { kind, words }, cause }) =>
      !CURE_KINDS.includes(kind) ||
      [words.en, words.ko].some((each) => each === "" || /[{}]/.test(each)) ||
      [words.ko, cause.ko].some((korean) => !/[가-힣]/.test(korean)),
  );
  expect(faulty).toEqual([]);
});

test("the list of cures has one entry for each code, and one more for each platform with words of its own", () => {
  const cures = listCures();
  expect(cures.filter(({ platform }) => platform === null).map(({ code }) => code)).toEqual(
    TARGET_ERROR_CODES,
  );
  expect(cures.filter(({ platform }) => platform !== null)).toMatchObject([
    { code: "permission_missing", platform: "telegram", cure: { kind: "open_then_retry" } },
  ]);
});

test.each([
  ["content_rejected", "failed", "change_content"],
  ["outcome_unknown", "failed", "resolve"],
  ["outcome_unknown", "publishing", "wait"],
  ["rate_limited", "delete_failed", "delete_again"],
  ["app_configuration", "published", "look"],
  ["constructor", "failed", "look"],
])("the cure of the error %s of a target that is %s is %s", (code, status, kind) => {
  expect(cureFor({ code, platform: "x", status, retryable: false }).kind).toBe(kind);
});
