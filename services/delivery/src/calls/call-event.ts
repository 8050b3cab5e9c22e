import type { Failure, Outcome, Published } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import { NOT_STORED, withoutText } from "#src/domain/without-text.ts";
import type { CallErrorCode } from "./call.ts";

/**
 * A failure before the call. A refused access token is renewed by the worker, which repeats the
 * step.
 */
export type StepFailure = Exclude<Failure, { kind: "token_refused" }>;

/** How a call ended; `done` if it took effect and created nothing that has an id. */
export type CallOutcome = Outcome | { readonly kind: "done" };

/**
 * What a worker learned about a call. The outcome of a marked call counts whichever worker reports
 * it. Everything else counts only while the reporting worker holds the call.
 */
export type CallEvent =
  /**
   * A marked call ended. `isForeignHost`: its server is run by the owner of the account, so that
   * the outcome says nothing about the platform.
   */
  | {
      readonly kind: "called";
      readonly callNumber: number;
      readonly outcome: CallOutcome;
      readonly isForeignHost?: boolean;
    }
  /** No worker reported how the call ended, although `callUntil` has passed. */
  | { readonly kind: "call_lost"; readonly callNumber: number }
  /**
   * The database did not answer whether it recorded that the call begins, so the worker did not
   * send it. `callNumber` is the number that the call would have.
   */
  | {
      readonly kind: "mark_lost";
      readonly fence: number;
      readonly callNumber: number;
      readonly isForeignHost?: boolean;
    }
  /** A call that is never marked ended. */
  | { readonly kind: "tried"; readonly fence: number; readonly outcome: CallOutcome }
  /** The calls to the platform are held, because it left the latest ones without an answer. */
  | { readonly kind: "platform_held"; readonly fence: number }
  /** A step before the call failed. */
  | { readonly kind: "step_failed"; readonly fence: number; readonly failure: StepFailure }
  /** The platform was searched for what became of the call. */
  | {
      readonly kind: "looked";
      readonly fence: number;
      readonly verdict: Verdict;
      readonly maxResends?: number;
    }
  /** The call fails for a reason that does not come from the platform. */
  | {
      readonly kind: "given_up";
      readonly fence: number;
      readonly code: CallErrorCode;
      readonly message: string;
    }
  /** The posts service does not want the target published in this generation. */
  | { readonly kind: "not_wanted"; readonly fence: number }
  /** An operator states what became of a call with an unknown outcome. */
  | {
      readonly kind: "stated";
      readonly published: Pick<Published, "externalId" | "permalink"> | undefined;
    }
  /**
   * An operator declared the restore lossless that made the outcome uncertain. `firstCalledAt`:
   * when the first call with an unknown outcome began; null if the restore alone made it uncertain.
   */
  | { readonly kind: "trusted"; readonly firstCalledAt: Date | null };

/**
 * Returns the event without the text that a platform wrote, so that the same decision can be
 * recorded if the database refuses that text. An id is kept if it can be stored.
 */
export function withoutPlatformText<E extends CallEvent>(event: E): E {
  if ("outcome" in event) return { ...event, outcome: withoutText(event.outcome) };
  if ("failure" in event) return { ...event, failure: withoutText(event.failure) };
  if ("verdict" in event) return { ...event, verdict: withoutText(event.verdict) };
  return "message" in event ? { ...event, message: NOT_STORED } : event;
}
