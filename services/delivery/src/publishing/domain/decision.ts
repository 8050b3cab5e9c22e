import type { Handles } from "@postrider/platforms/publishing/handles";
import type { Failure, Outcome, TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import type { Attempt, AttemptOutcome, Task, TaskKey } from "./task.ts";

/**
 * Publishing is decided in four steps, each with a type of its own: a `TaskEvent` is what was learned about a task, a
 * `TaskSnapshot` what is known under the lock, a `Decision` what follows, and a `TargetUpdate` what is reported to posts.
 */
export type TaskEvent = TaskRef & Learned;

/** Which task an event is about, and in which attempt; attempt 0 when the task had none yet. */
export interface TaskRef extends TaskKey {
  readonly attemptNumber: number;
}

/** What was learned. Facts count whichever worker reports them; the others count only while their fence is held. */
export type Learned =
  /** A fact: how a visible call ended. */
  | { readonly kind: "called"; readonly callNumber: number; readonly outcome: Outcome }
  /** `callUntil` has passed and no worker has reported how the visible call ended. */
  | { readonly kind: "call_lost"; readonly callNumber: number }
  /** A step before the visible call failed. */
  | { readonly kind: "step_failed"; readonly fence: number; readonly failure: StepFailure }
  /** The platform was asked what became of a call. */
  | {
      readonly kind: "looked";
      readonly fence: number;
      readonly verdict: Verdict;
      readonly maxResends: number;
    }
  /** The target cannot be published, for a reason other than the platform's answer. */
  | {
      readonly kind: "given_up";
      readonly fence: number;
      readonly code: TargetErrorCode;
      readonly message: string;
    }
  /** The target is not to be published at this generation. */
  | { readonly kind: "not_wanted"; readonly fence: number };

/** A refused token is not a failure of a step: the token is refreshed first. */
export type StepFailure = Exclude<Failure, { kind: "token_refused" }>;

/** What is known when a decision is made, read under the lock of all the target's tasks. */
export interface TaskSnapshot {
  readonly task: Task;
  /** The target's tasks of other generations. */
  readonly siblings: readonly Task[];
  /** The attempt that the event belongs to. */
  readonly attempt: Attempt | undefined;
  readonly now: Date;
  /** In [0, 1). */
  readonly random: number;
}

/** What follows for the other tasks of the account. */
export type AccountEffect =
  | { readonly kind: "failed" }
  | { readonly kind: "answered" }
  | { readonly kind: "limited"; readonly until: Date };

/** A task as it is from now on, its version raised. */
export interface TaskChange {
  readonly task: Task;
  /** Whether the change is reported to posts. */
  readonly isReported: boolean;
}

/** What follows from an event. */
export interface Decision {
  /** The task that the event is about, as it was. */
  readonly task: Task;
  /** Tasks of the target, among them usually that one, as they are from now on. */
  readonly changes: readonly TaskChange[];
  /** The event's attempt as it is from now on. */
  readonly attempt?: Attempt;
  readonly account?: AccountEffect;
  /** What a visible call returned, added to the handles of the task. */
  readonly handles?: Handles;
  /** The task is published without an id; the platform is asked for it later with these. */
  readonly askLater?: Handles;
  /** The worker that reported the event keeps the task and goes on within the same attempt. */
  readonly isContinued?: true;
}

/** A change that is reported to posts, with the attempt that ended with it. */
export interface TargetUpdate {
  readonly task: Task;
  readonly attempt: Attempt | undefined;
}

/** A fact or an expired fence that changes nothing. */
export function nothing({ task }: TaskSnapshot): Decision {
  return { task, changes: [] };
}

export function change(task: Task, isReported = true): TaskChange {
  return { task: { ...task, version: task.version + 1 }, isReported };
}

type AttemptResult = Partial<Pick<Attempt, "externalId" | "permalink" | "isNotSent">>;

/**
 * The `attempt` of a decision; empty when the event belongs to no attempt.
 *
 * @param outcome null leaves the attempt open.
 */
export function attemptWith(
  { attempt, now }: TaskSnapshot,
  outcome: AttemptOutcome | null,
  { code = "", message = "" }: { readonly code?: string; readonly message?: string } = {},
  { externalId, permalink, isNotSent = false }: AttemptResult = {},
): Pick<Decision, "attempt"> {
  if (attempt === undefined) return {};
  return {
    attempt: {
      ...attempt,
      outcome,
      code,
      message,
      externalId: externalId ?? attempt.externalId,
      permalink: permalink ?? attempt.permalink,
      isNotSent,
      finishedAt: outcome === null ? attempt.finishedAt : now,
    },
  };
}

/** What of a decision is reported to posts. */
export function toTargetUpdates({ changes, attempt }: Decision): readonly TargetUpdate[] {
  const ended = attempt === undefined || attempt.outcome === null ? undefined : attempt;
  return changes
    .filter(({ isReported }) => isReported)
    .map(({ task }) => ({ task, attempt: ended }));
}
