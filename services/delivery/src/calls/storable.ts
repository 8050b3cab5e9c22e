import { NOT_STORED, withoutText } from "#src/domain/without-text.ts";
import type { CallEvent } from "./call.ts";

/**
 * Returns the event without the text that a platform wrote, so that the same decision can be recorded if the database
 * refuses that text. An id is kept if it can be stored.
 */
export function withoutPlatformText<E extends CallEvent>(event: E): E {
  switch (event.kind) {
    case "called":
    case "tried":
      return { ...event, outcome: withoutText(event.outcome) };
    case "step_failed":
      return { ...event, failure: withoutText(event.failure) };
    case "looked":
      return { ...event, verdict: withoutText(event.verdict) };
    case "given_up":
      return { ...event, message: NOT_STORED };
    default:
      return event;
  }
}
