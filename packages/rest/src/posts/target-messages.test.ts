import { expect, test } from "vitest";
import { TARGET_ERROR_CODES } from "#src/posts/target-error-codes.ts";
import { TARGET_MESSAGES_EN } from "#src/posts/target-messages-en.ts";
import { TARGET_MESSAGES_KO } from "#src/posts/target-messages-ko.ts";
import { targetMessageFor } from "#src/posts/target-messages.ts";

test("English and Korean have messages for exactly the error codes of publishing targets", () => {
  expect(Object.keys(TARGET_MESSAGES_EN).sort()).toEqual([...TARGET_ERROR_CODES].sort());
  expect(Object.keys(TARGET_MESSAGES_KO).sort()).toEqual([...TARGET_ERROR_CODES].sort());
});

test.each(["", "unknown_code", "__proto__", "toString", "constructor"])(
  "the unknown error code %j of a publishing target has the message of internal_error",
  (code) => {
    expect(targetMessageFor("en", code)).toBe("Something went wrong on our side. Try again.");
    expect(targetMessageFor("ko", code)).toBe("서비스에 문제가 생겼습니다. 다시 시도해 주세요.");
  },
);

test("the rate_limited message of a publishing target names the platform", () => {
  expect(targetMessageFor("en", "rate_limited")).toMatch(/platform/);
  expect(targetMessageFor("ko", "rate_limited")).toMatch(/플랫폼/);
});
