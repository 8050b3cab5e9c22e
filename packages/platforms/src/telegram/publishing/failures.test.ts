import { expect, test } from "vitest";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { toFailure, toSendFailure } from "./failures.ts";

function refusal(description: string, status = 400, parameters = {}): PlatformAnswer {
  const json = { ok: false, error_code: status, description, parameters };
  return { kind: "answer", status, headers: {}, json };
}

test.each([
  ["Bad Request: CHAT_RESTRICTED", "permission_missing"],
  ["Bad Request: CHAT_SEND_PHOTOS_FORBIDDEN", "permission_missing"],
  ["Bad Request: TOPIC_DELETED", "account_action_needed"],
  ["Bad Request: TOPIC_CLOSED", "account_action_needed"],
  ["Bad Request: message text is empty", "content_rejected"],
])("Telegram's refusal %j has the error code %s", (description, code) => {
  expect(toFailure(refusal(description))).toEqual({ kind: "refused", code, message: description });
});

const OF_FIRST = "Bad Request: failed to send message #1 with the error message";

test.each([
  [`${OF_FIRST} "Too Many Requests: retry after 8"`, { kind: "unknown", isAnswered: true }],
  [`${OF_FIRST} "IMAGE_PROCESS_FAILED"`, { kind: "unknown", isAnswered: true }],
  ["Bad Request: group send failed", { kind: "unknown", isAnswered: true }],
  [`${OF_FIRST} "CHAT_RESTRICTED"`, { kind: "refused", code: "permission_missing" }],
  [`${OF_FIRST} "CHAT_SEND_VIDEOS_FORBIDDEN"`, { kind: "unknown", isAnswered: true }],
  [`${OF_FIRST} "CHAT_SEND_MEDIA_FORBIDDEN"`, { kind: "refused", code: "permission_missing" }],
  ["Bad Request: CHAT_SEND_VIDEOS_FORBIDDEN", { kind: "refused", code: "permission_missing" }],
  ["Bad Request: message caption is too long", { kind: "refused", code: "content_rejected" }],
])(
  "the answer %j to an album is certain only when it is about the chat or about the whole album",
  (description, outcome) => {
    expect(toSendFailure(refusal(description))).toEqual({ ...outcome, message: description });
  },
);

test("an album that Telegram refuses because of its limit or of the token is not visible in part", () => {
  const limited = refusal("Too Many Requests: retry after 8", 429, { retry_after: 8 });
  expect(toSendFailure(limited)).toMatchObject({ kind: "retryable", retryAfterMs: 8_000 });
  expect(toSendFailure(refusal("Unauthorized", 401))).toMatchObject({ kind: "token_refused" });
});
