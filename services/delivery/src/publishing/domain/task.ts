import type { Handles } from "@postrider/platforms/publishing/handles";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";

export type TaskStatus =
  /** The publish task waits until it is due. */
  | "queued"
  /** A worker holds the lease of the publish task; the publishing call has not begun. */
  | "working"
  /** The publishing call is marked as begun: until `callUntil`, it may be sent or may have been sent. */
  | "calling"
  /** A publishing call ended with an unknown outcome; the publish task waits for the next search of the platform. */
  | "unknown"
  /** A worker searches the platform for the post of a publishing call. */
  | "reconciling"
  | "published"
  | "failed"
  /** The target is not wanted at this generation, or another generation is published. */
  | "dropped";

/** Key of a publish task. */
export interface TaskKey {
  readonly targetId: string;
  readonly generation: number;
}

/**
 * Key of a publish task together with the fence of its worker. If the stored fence differs, another worker holds the task.
 */
export interface HeldKey extends TaskKey {
  readonly fence: number;
}

/** The publication of one target at one generation. */
export interface Task extends HeldKey {
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: TaskStatus;
  /** No process acts on the publish task before this instant. */
  readonly wakeAt: Date;
  /** When the target is to be published: its scheduled time, or the time at which the user requested it. */
  readonly dueAt: Date;
  /** No publishing call starts after this instant. */
  readonly publishBefore: Date;
  readonly crashCount: number;
  /** Number of the attempt of the target that began last, counted over all generations; 0 if no attempt began. */
  readonly attemptNumber: number;
  /**
   * Whether the latest attempt has no outcome yet. A rate limit or a publishing call that was not sent does not end an
   * attempt.
   */
  readonly isAttemptOpen: boolean;
  readonly retryCount: number;
  readonly unknownCount: number;
  /**
   * Number of publishing calls of the task that neither succeeded nor certainly failed. While it is above 0, the target may be
   * visible.
   */
  readonly openUnknowns: number;
  readonly resendCount: number;
  readonly looks: number;
  readonly isLimited: boolean;
  /** Whether the data was restored, and a publishing call that is missing from the data may have published the target. */
  readonly isRestored: boolean;
  readonly callNumber: number;
  /** When the first publishing call with an unknown outcome began. Searches of the platform start from this time. */
  readonly firstUnknownAt: Date | null;
  readonly calledAt: Date | null;
  readonly callUntil: Date | null;
  readonly version: number;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly publishedAt: Date | null;
  readonly errorCode: TargetErrorCode | null;
  readonly errorMessage: string | null;
}

/** Handles as they are stored: each value is sealed separately; the values that older releases stored are plain text. */
export type StoredHandles = Readonly<Record<string, string | { readonly sealed: string }>>;

/**
 * Number of crashes in a row after which a task is a suspect: the work on it may be the cause. A process works on one suspect
 * at a time, so that a task that was only in work beside the cause ends without a further crash.
 */
export const SUSPECT_CRASHES = 3;

export function isSuspect({ crashCount }: Task): boolean {
  return crashCount >= SUSPECT_CRASHES;
}

/** A publish task that this process has just claimed. */
export interface ClaimedTask extends Task {
  /** What the steps of the publish task have returned so far. */
  readonly handles: StoredHandles | null;
  /** The database's time at the claim of the task. */
  readonly claimedAt: Date;
  /** How long the publish task had been ready when it was claimed, in milliseconds. */
  readonly latenessMs: number;
  /** Whether the `publishBefore` of the task has passed. */
  readonly isTooLate: boolean;
  /** Headers of the event that requested the publish task; null in rows that an older release created. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/** A claimed publish task whose handles are unsealed. */
export interface OpenTask extends ClaimedTask {
  readonly handles: Handles;
}

export type AttemptOutcome = "published" | "retry" | "failed" | "unknown";

/** Key of an attempt: the id of the target and the number of the attempt. */
export interface AttemptKey {
  readonly targetId: string;
  readonly number: number;
}

/** One try to publish a target, as it is stored. */
export interface Attempt extends AttemptKey {
  /** Number of the publish task's latest publishing call within the attempt. */
  readonly callNumber: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** Null while the attempt is open. */
  readonly outcome: AttemptOutcome | null;
  readonly code: string;
  readonly message: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly isNotSent: boolean;
}

/** Whether the publish task has ended, so that only a new event or request can change it. */
export function isFinal(status: TaskStatus): boolean {
  return status === "published" || status === "failed" || status === "dropped";
}

/** Number of attempts of a target that have ended, over all generations. */
export function countAttempts(task: Pick<Task, "attemptNumber" | "isAttemptOpen">): number {
  return task.isAttemptOpen ? task.attemptNumber - 1 : task.attemptNumber;
}

/** Returns the key of a publish task as a string, for maps and sets. */
export function nameTask(key: TaskKey): string {
  return `${key.targetId}/${key.generation}`;
}
