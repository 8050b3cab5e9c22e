import type { Failure, Outcome, Published } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import { NOT_STORED, withoutText } from "#src/domain/without-text.ts";
import type { CallErrorCode } from "./call.ts";

/** A refused access token is renewed by the worker, which repeats the step. */
export type StepFailure = Exclude<Failure, { kind: "token_refused" }>;

/** `done`: it took effect and created nothing that has an id. */
export type CallOutcome = Outcome | { readonly kind: "done" };

/** A marked outcome always counts; all else only while the reporting worker holds the call. */
export type CallEvent =
  /** `isForeignHost`: on a server of the account's owner, so it says nothing about the platform. */
  | {
      readonly kind: "called";
      readonly callNumber: number;
      readonly outcome: CallOutcome;
      readonly isForeignHost?: boolean;
    }
  /** `callUntil` has passed without a report. */
  | { readonly kind: "call_lost"; readonly callNumber: number }
  /** The mark got no answer, so nothing was sent. `callNumber` is the number it would have had. */
  | {
      readonly kind: "mark_lost";
      readonly fence: number;
      readonly callNumber: number;
      readonly isForeignHost?: boolean;
    }
  /** A call that is never marked ended. */
  | { readonly kind: "tried"; readonly fence: number; readonly outcome: CallOutcome }
  | { readonly kind: "platform_held"; readonly fence: number }
  /** `isKnownLimit`: the failure is a limit that is stored, so the account has learned nothing. */
  | {
      readonly kind: "step_failed";
      readonly fence: number;
      readonly failure: StepFailure;
      readonly isKnownLimit?: boolean;
    }
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
  | { readonly kind: "not_wanted"; readonly fence: number }
  | {
      readonly kind: "stated";
      readonly published: Pick<Published, "externalId" | "permalink"> | undefined;
    }
  /** `firstCalledAt` is null if the restore that was declared lossless is the only doubt. */
  | { readonly kind: "trusted"; readonly firstCalledAt: Date | null };

/** For a text that the database refuses. An id is kept if it can be stored. */
export function withoutPlatformText<E extends CallEvent>(event: E): E {
  if ("outcome" in event) return { ...event, outcome: withoutText(event.outcome) };
  if ("failure" in event) return { ...event, failure: withoutText(event.failure) };
  if ("verdict" in event) return { ...event, verdict: withoutText(event.verdict) };
  return "message" in event ? { ...event, message: NOT_STORED } : event;
}
