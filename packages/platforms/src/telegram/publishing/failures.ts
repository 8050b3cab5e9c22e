import { object, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import {
  type Failure,
  limitReached,
  type TargetErrorCode,
  type Unknown,
} from "#src/publishing/outcome.ts";

const DEFAULT_WAIT_MS = 60_000;

/**
 * Error codes for patterns in the error descriptions of Telegram's Bot API. The descriptions may
 * change; when no pattern matches, the HTTP status determines the code.
 */
const MEANINGS: readonly (readonly [RegExp, TargetErrorCode])[] = [
  [
    /not a member|was kicked|administrator rights|not enough rights|chat_(restricted|write_forbidden|send_\w+_forbidden)/i,
    "permission_missing",
  ],
  [
    /chat not found|message thread not found|topic.(closed|deleted)|upgraded to a supergroup/i,
    "account_action_needed",
  ],
  [/text is empty|(message|caption) is too long|can't parse entities/i, "content_rejected"],
  [
    /file identifier|http url|web page content|photo_|video_|image_process|too big|entity too large|file must be/i,
    "media_rejected",
  ],
];

function toCode(status: number, description: string): TargetErrorCode {
  const known = MEANINGS.find(([pattern]) => pattern.test(description));
  if (known !== undefined) return known[1];
  if (status === 413) return "media_rejected";
  return status === 403 ? "permission_missing" : "content_rejected";
}

/** With `ok: false` the Bot API has refused the call: a single message was not sent. */
export function toFailure(answer: PlatformAnswer): Failure {
  const message = shorten(text(answer.json, "description"));
  const code = answer.status;
  if (code === 401 || code === 404) return { kind: "token_refused", message };
  if (code === 429) {
    const retryAfter = Number(object(answer.json, "parameters")?.retry_after);
    const retryAfterMs = retryAfter > 0 ? retryAfter * 1000 : DEFAULT_WAIT_MS;
    return limitReached("rate_limited", message, retryAfterMs);
  }
  const refused = { code: toCode(code, message), message };
  const chatId = migratedChatId(answer);
  return chatId === undefined
    ? { kind: "refused", ...refused }
    : {
        kind: "retryable",
        ...refused,
        retryAfterMs: 0,
        handles: { chatId },
        facts: { externalId: chatId },
      };
}

/**
 * How the Bot API answers for an album of which one message failed, whether or not it sent the
 * others (telegram-bot-api Client.cpp `on_message_send_failed`; TelegramBots #1520).
 */
const OF_ONE_MESSAGE = /failed to send message #\d|group send failed/i;

/** A chat can forbid videos and allow photos. */
const OF_ONE_KIND = /chat_send_(?!media)\w+_forbidden/i;

/** What else Telegram refuses because of the chat, it refuses for every message of an album. */
function isAboutOneMessage(failure: Failure): boolean {
  if (failure.kind !== "refused" || !OF_ONE_MESSAGE.test(failure.message)) return false;
  const { code, message } = failure;
  return code === "content_rejected" || code === "media_rejected" || OF_ONE_KIND.test(message);
}

/**
 * Unknown when a part of an album may be visible. The Bot API sends an album with one call
 * (`messages.sendMultiMedia`), and only after all its files are uploaded, so that 401 and 429
 * without the number of a message refuse it as a whole (tdlib MessagesManager.cpp
 * `do_send_message_group`; telegram-bot-api Client.cpp `fail_query_flood_limit_exceeded`).
 */
export function toSendFailure(answer: PlatformAnswer): Failure | Unknown {
  const failure = toFailure(answer);
  const { message } = failure;
  return isAboutOneMessage(failure) ? { kind: "unknown", message, isAnswered: true } : failure;
}

/**
 * Returns the new id of a group that has become a supergroup; undefined when the answer is about
 * something else. Messages to the old id are refused from then on (Bot API, `ResponseParameters`).
 */
export function migratedChatId({ json }: PlatformAnswer): string | undefined {
  const id = object(json, "parameters")?.migrate_to_chat_id;
  return Number.isSafeInteger(id) ? String(id) : undefined;
}
