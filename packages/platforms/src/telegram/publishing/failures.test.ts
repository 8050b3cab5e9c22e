import { expect, test } from "vitest";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { toFailure } from "./failures.ts";

test.each([
  ["Bad Request: CHAT_RESTRICTED", "permission_missing"],
  ["Bad Request: CHAT_SEND_PHOTOS_FORBIDDEN", "permission_missing"],
  ["Bad Request: TOPIC_DELETED", "account_action_needed"],
  ["Bad Request: TOPIC_CLOSED", "account_action_needed"],
  ["Bad Request: message text is empty", "content_rejected"],
])("Telegram's refusal %j has the error code %s", (description, code) => {
  const json = { ok: false, error_code: 400, description };
  const answer: PlatformAnswer = { kind: "answer", status: 400, headers: {}, json };
  expect(toFailure(answer)).toEqual({ kind: "refused", code, message: description });
});
