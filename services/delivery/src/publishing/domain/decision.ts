import type { Handles } from "@postrider/platforms/publishing/handles";
import type { Failure, Outcome, TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import type { Attempt, AttemptOutcome, Task } from "./task.ts";

/** Something that was learned about a task. Facts count whoever brings them; the others only while their fence is held. */
export type Happening =
  /** A fact: what a visible call came to. */
  | { readonly kind: "called"; readonly callNumber: number; readonly outcome: Outcome }
  /** Nobody has said by `callUntil` what the visible call came to. */
  | { readonly kind: "call_lost"; readonly callNumber: number }
  /** An invisible step failed. */
  | { readonly kind: "step_failed"; readonly fence: number; readonly failure: StepFailure }
  /** The platform was read back. */
  | {
      readonly kind: "looked";
      readonly fence: number;
      readonly verdict: Verdict;
      readonly maxResends: number;
    }
  /** The target cannot be published for a reason outside of the platform's answer. */
  | {
      readonly kind: "given_up";
      readonly fence: number;
      readonly code: TargetErrorCode;
      readonly message: string;
    }
  /** The target is not to be published at this generation. */
  | { readonly kind: "not_wanted"; readonly fence: number };

/** A refused token is no failure of a step: it is refreshed, and only then the target is given up. */
export type StepFailure = Exclude<Failure, { kind: "token_refused" }>;

/** What is known when a decision is made, read under the lock of all the target's tasks. */
export interface Situation {
  readonly task: Task;
  /** The target's tasks of other generations. */
  readonly siblings: readonly Task[];
  /** The attempt that the happening belongs to. */
  readonly attempt: Attempt | undefined;
  readonly now: Date;
  /** In [0, 1). */
  readonly random: number;
}

/** What is written to the attempt's row. */
export interface AttemptResult {
  /** null leaves the attempt open. */
  readonly outcome: AttemptOutcome | null;
  readonly code: string;
  readonly message: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly isNotSent: boolean;
}

/** What the outcome means for the other tasks of the account. */
export type AccountEffect =
  | { readonly kind: "failed" }
  | { readonly kind: "answered" }
  | { readonly kind: "limited"; readonly until: Date };

/** A task as it is from now on, its version raised. */
export interface TaskChange {
  readonly task: Task;
  /** Whether the change is told to the post's owner. */
  readonly isReported: boolean;
}

export interface Decision {
  readonly changes: readonly TaskChange[];
  readonly attempt?: AttemptResult;
  readonly account?: AccountEffect;
  /** What a visible call returned, added to the handles of the situation's task. */
  readonly handles?: Handles;
  /** The situation's task is published without an id, which the platform is asked for with these. */
  readonly askLater?: Handles;
}

/** A fact or an expired fence that changes nothing. */
export const NOTHING: Decision = { changes: [] };

export function change(task: Task, isReported = true): TaskChange {
  return { task: { ...task, version: task.version + 1 }, isReported };
}

export function attemptResult(
  outcome: AttemptOutcome | null,
  code = "",
  message = "",
): AttemptResult {
  return { outcome, code, message, externalId: null, permalink: null, isNotSent: false };
}
