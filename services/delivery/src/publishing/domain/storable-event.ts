import { NOT_STORED, withoutText } from "#src/domain/without-text.ts";
import type { TaskEvent } from "./decision.ts";

/**
 * Returns the event without the text that a platform wrote, so that the same decision can be recorded if the database
 * refuses that text. A post id is kept if it can be stored.
 */
export function withoutPlatformText(event: TaskEvent): TaskEvent {
  switch (event.kind) {
    case "called":
      return { ...event, outcome: withoutText(event.outcome) };
    case "step_failed":
      return { ...event, failure: withoutText(event.failure) };
    case "looked":
      return { ...event, verdict: withoutText(event.verdict) };
    case "given_up":
      return { ...event, message: NOT_STORED };
    case "call_lost":
    case "mark_lost":
    case "platform_held":
    case "not_wanted":
      return event;
  }
}
