import type { Handles } from "@postrider/platforms/publishing/handles";
import type { Failure, Outcome, TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import type { Attempt, AttemptOutcome, Task, TaskKey } from "./task.ts";

/**
 * A publish task is advanced in four stages, each with its own type. A `TaskEvent` says what a worker learned about the
 * task. A `TaskSnapshot` contains what the database stores about it. A `Decision` says what follows. A `TargetUpdate`
 * is what the posts service is told.
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
 * Whether the owner of the account, not the platform, runs the server of a publishing call. Such a call says nothing about
 * the platform.
 */
type IsForeignHost = boolean;

/**
 * What a worker learned about a publish task. The outcome of a publishing call counts no matter which worker reports
 * it. Everything else counts only while the reporting worker holds the task.
 */
export type Learned =
  /** A publishing call ended with this outcome. */
  | {
      readonly kind: "called";
      readonly callNumber: number;
      readonly outcome: Outcome;
      readonly isForeignHost?: IsForeignHost;
    }
  /**
   * No worker reported how the publishing call ended, although the time `callUntil`, before which the call must end,
   * has passed.
   */
  | { readonly kind: "call_lost"; readonly callNumber: number }
  /**
   * The database did not answer whether it recorded that a publishing call begins, so the worker did not send the call.
   * `callNumber` is the number that the call would have.
   */
  | {
      readonly kind: "mark_lost";
      readonly fence: number;
      readonly callNumber: number;
      readonly isForeignHost?: IsForeignHost;
    }
  /** The publishing calls to the platform are held, because it left the latest ones without an answer. */
  | { readonly kind: "platform_held"; readonly fence: number }
  /** A step before the publishing call failed. */
  | { readonly kind: "step_failed"; readonly fence: number; readonly failure: StepFailure }
  /** The platform was searched for the post of a publishing call. */
  | {
      readonly kind: "looked";
      readonly fence: number;
      readonly verdict: Verdict;
      readonly maxResends: number;
    }
  /** The target fails for a reason that does not come from the platform. */
  | {
      readonly kind: "given_up";
      readonly fence: number;
      readonly code: TargetErrorCode;
      readonly message: string;
    }
  /** The posts service answered that this generation (publish request) of the target must not be published. */
  | { readonly kind: "not_wanted"; readonly fence: number };

/**
 * A failure of a step before the publishing call. A refused access token is not included, because the worker renews the
 * token and repeats the step.
 */
export type StepFailure = Exclude<Failure, { kind: "token_refused" }>;

/**
 * What the database stores about a publish task when a decision is made. It is read while all tasks of the target are
 * locked.
 */
export interface TaskSnapshot {
  readonly task: Task;
  /** Publish tasks of the same target at other generations (for other publish requests). */
  readonly siblings: readonly Task[];
  /** The publishing attempt that the event is about. */
  readonly attempt: Attempt | undefined;
  readonly now: Date;
  readonly random: number;
}

/** What a decision about one publish task says about its account, whose other tasks may have to wait. */
export type AccountEffect =
  | { readonly kind: "failed" }
  | { readonly kind: "answered" }
  | {
      readonly kind: "limited";
      readonly until: Date;
      /** The platform's answer about a limit of our app, which stops all accounts of the platform. */
      readonly ofApp?: { readonly code: TargetErrorCode; readonly message: string };
    };

/** The new state of a publish task, with its version number increased by one. */
export interface TaskChange {
  readonly task: Task;
  /** Whether the change is reported to the posts service. */
  readonly isReported: boolean;
}

/** Everything that must be written to the database after an event about a publish task. */
export interface Decision {
  /** The publish task that the event is about, in its state before the event. */
  readonly task: Task;
  /** New states of publish tasks of the target, usually including the task that the event is about. */
  readonly changes: readonly TaskChange[];
  /** New state of the publishing attempt that the event is about. */
  readonly attempt?: Attempt;
  readonly account?: AccountEffect;
  /**
   * Handles (upload ids and similar values) that the platform returned to a publishing call. They are added to the
   * stored handles of the task.
   */
  readonly handles?: Handles;
  /** Set if the target is published without a post id: data with which the platform is asked for the id later. */
  readonly askLater?: Handles;
  /** Set if the worker that reported the event keeps the publish task and continues within the same attempt. */
  readonly isContinued?: true;
}

/**
 * A change of a publish task that is reported to the posts service, with the publishing attempt that this change ended.
 */
export interface TargetUpdate {
  readonly task: Task;
  readonly attempt: Attempt | undefined;
  /** Whether the platform has told the post id or address of a target that was reported as published before. */
  readonly hasNewAddress?: boolean;
}

/**
 * Returns a decision that changes nothing. It answers a repeated outcome, or an event from a worker that has lost the
 * publish task.
 */
export function nothing({ task }: TaskSnapshot): Decision {
  return { task, changes: [] };
}

export function change(task: Task, isReported = true): TaskChange {
  return { task: { ...task, version: task.version + 1 }, isReported };
}

type AttemptResult = Partial<Pick<Attempt, "externalId" | "permalink" | "isNotSent">>;

/**
 * Builds the new state of the publishing attempt; returns an empty object if the event is not about an attempt.
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

/** Returns those changes of publish tasks in a decision that are reported to the posts service. */
export function toTargetUpdates({ changes, attempt }: Decision): readonly TargetUpdate[] {
  const ended = attempt === undefined || attempt.outcome === null ? undefined : attempt;
  return changes
    .filter(({ isReported }) => isReported)
    .map(({ task }) => ({ task, attempt: ended }));
}
