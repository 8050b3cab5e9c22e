import { NOT_STORED, withoutText } from "#src/domain/without-text.ts";
import type { ActionEvent } from "./action-decision.ts";

/**
 * Returns the event without the platform's text, so that the same decision can be recorded if the database refuses that text.
 * The id of a reply is kept if it can be stored.
 */
export function withoutPlatformText(event: ActionEvent): ActionEvent {
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
      return event;
  }
}
