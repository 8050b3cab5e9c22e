import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import type { NotSent, SendResult } from "#src/http/send-once.ts";
import { platformUnavailable, type Failure, type Unknown } from "./outcome.ts";

/** For platforms whose protocol gives no further information. */
export function toUnanswered(
  sent: Exclude<SendResult, PlatformAnswer>,
): NotSent | Failure | Unknown {
  switch (sent.kind) {
    case "not_sent":
      return sent;
    case "not_connected":
      return platformUnavailable(sent.message);
    case "no_answer":
      return { kind: "unknown", message: sent.message };
  }
}
