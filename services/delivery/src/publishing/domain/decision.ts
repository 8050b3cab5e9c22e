import type { Handles } from "@postrider/platforms/publishing/handles";
import type { Failure, Outcome, TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import type { Attempt, AttemptOutcome, Task, TaskKey } from "./task.ts";

/**
 * Publishing is decided in four steps, each with its own type. A `TaskEvent` says what was learned about a publish task. A
 * `TaskSnapshot` contains what is stored about the task when it is locked. A `Decision` says what follows. A `TargetUpdate` is
 * what the posts service is told.
 */
export type TaskEvent = TaskRef & Learned;

/**
 * The publish task that an event is about, and the number of the attempt in which the event happened; 0 if the task had no
 * attempt yet.
 */
export interface TaskRef extends TaskKey {
  readonly attemptNumber: number;
}

/**
 * What was learned about a publish task. Outcomes of publishing calls count no matter which worker reports them. All other
 * events count only while the reporting worker holds the fence.
 */
export type Learned =
  /** A publishing call ended with this outcome. */
  | { readonly kind: "called"; readonly callNumber: number; readonly outcome: Outcome }
  /** `callUntil` has passed and no worker has reported how the publishing call ended. */
  | { readonly kind: "call_lost"; readonly callNumber: number }
  /** A step before the publishing call failed. */
  | { readonly kind: "step_failed"; readonly fence: number; readonly failure: StepFailure }
  /** The platform was searched for the post of a publishing call. */
  | {
      readonly kind: "looked";
      readonly fence: number;
      readonly verdict: Verdict;
      readonly maxResends: number;
    }
  /** The target cannot be published for a reason other than an answer of the platform. */
  | {
      readonly kind: "given_up";
      readonly fence: number;
      readonly code: TargetErrorCode;
      readonly message: string;
    }
  /** The posts service does not want the target published at this generation. */
  | { readonly kind: "not_wanted"; readonly fence: number };

/**
 * A failure of a step before the publishing call. A refused access token is not such a failure, because the token is refreshed
 * first.
 */
export type StepFailure = Exclude<Failure, { kind: "token_refused" }>;

/** What is stored about a publish task when a decision is made, read while all tasks of the target are locked. */
export interface TaskSnapshot {
  readonly task: Task;
  /** Publish tasks of the same target at other generations. */
  readonly siblings: readonly Task[];
  /** The attempt that the event is about. */
  readonly attempt: Attempt | undefined;
  readonly now: Date;
  /** A random number in [0, 1). */
  readonly random: number;
}

/** What a decision about one task changes for the other tasks of the same account. */
export type AccountEffect =
  | { readonly kind: "failed" }
  | { readonly kind: "answered" }
  | { readonly kind: "limited"; readonly until: Date };

/** The new state of a publish task, with its version raised. */
export interface TaskChange {
  readonly task: Task;
  /** Whether the change is reported to the posts service. */
  readonly isReported: boolean;
}

/** What follows from a task event. */
export interface Decision {
  /** The publish task that the event is about, in its state before the event. */
  readonly task: Task;
  /** New states of publish tasks of the target, usually with that of the event's task. */
  readonly changes: readonly TaskChange[];
  /** New state of the attempt that the event is about. */
  readonly attempt?: Attempt;
  readonly account?: AccountEffect;
  /** Handles that a publishing call returned, to be added to the stored handles of the task. */
  readonly handles?: Handles;
  /** Set if the target is published without a post id: data with which the platform is asked for the id later. */
  readonly askLater?: Handles;
  /** Set if the worker that reported the event keeps the task and continues within the same attempt. */
  readonly isContinued?: true;
}

/** A change of a publish task that is reported to the posts service, with the attempt that ended with the change. */
export interface TargetUpdate {
  readonly task: Task;
  readonly attempt: Attempt | undefined;
}

/** Returns a decision that changes nothing, for a repeated outcome or an event from a worker without the fence. */
export function nothing({ task }: TaskSnapshot): Decision {
  return { task, changes: [] };
}

export function change(task: Task, isReported = true): TaskChange {
  return { task: { ...task, version: task.version + 1 }, isReported };
}

type AttemptResult = Partial<Pick<Attempt, "externalId" | "permalink" | "isNotSent">>;

/**
 * Builds the field `attempt` of a decision; empty if the event is not about an attempt.
 *
 * @param outcome null keeps the attempt open.
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

/** Returns the changes of a decision that are reported to the posts service. */
export function toTargetUpdates({ changes, attempt }: Decision): readonly TargetUpdate[] {
  const ended = attempt === undefined || attempt.outcome === null ? undefined : attempt;
  return changes
    .filter(({ isReported }) => isReported)
    .map(({ task }) => ({ task, attempt: ended }));
}
