import type { Handles } from "@postrider/platforms/publishing/handles";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";

export type TaskStatus =
  /** Waits until it is due. */
  | "queued"
  /** A worker holds the lease; its visible call has not begun. */
  | "working"
  /** The visible call is marked: it may leave, or may have left, until `callUntil`. */
  | "calling"
  /** A visible call ended without a known outcome; the task waits for the next look at the platform. */
  | "unknown"
  /** A worker looks at the platform for the outcome of a call. */
  | "reconciling"
  | "published"
  | "failed"
  /** The target is not wanted at this generation, or another generation is published. */
  | "dropped";

/** Names a task. */
export interface TaskKey {
  readonly targetId: string;
  readonly generation: number;
}

/** Names a task as its worker knows it: a task with another fence belongs to another worker. */
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
  /** No process acts on the task before this instant. */
  readonly wakeAt: Date;
  /** When the target is to be published: its scheduled time, or when a person asked for it. */
  readonly dueAt: Date;
  /** No visible call starts after this instant. */
  readonly publishBefore: Date;
  readonly crashCount: number;
  /** The latest attempt begun, counted over generations; 0 = none. */
  readonly attemptNumber: number;
  /** The latest attempt has no outcome yet: a limit or a call that was not sent does not end it. */
  readonly isAttemptOpen: boolean;
  readonly retryCount: number;
  readonly unknownCount: number;
  /** Visible calls that are neither known nor proved absent: while there is one, the target may be visible. */
  readonly openUnknowns: number;
  readonly resendCount: number;
  readonly looks: number;
  readonly isLimited: boolean;
  /** The data was restored: the question is what became of calls that it does not know of. */
  readonly isRestored: boolean;
  readonly callNumber: number;
  /** When the first call with an unknown outcome began: reading the platform back starts there. */
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

/** Handles as they are stored: each is sealed by itself; those of older releases are plain text. */
export type StoredHandles = Readonly<Record<string, string | { readonly sealed: string }>>;

/** A task that this process has just claimed. */
export interface ClaimedTask extends Task {
  /** What its steps have made so far. */
  readonly handles: StoredHandles | null;
  /** Database time of the claim. */
  readonly claimedAt: Date;
  /** How long the task had been ready when it was claimed. */
  readonly latenessMs: number;
  /** `publishBefore` has passed. */
  readonly isTooLate: boolean;
  /** Headers of the event that requested the task; null on tasks from before these were stored. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/** A claimed task whose handles are readable. */
export interface OpenTask extends ClaimedTask {
  readonly handles: Handles;
}

export type AttemptOutcome = "published" | "retry" | "failed" | "unknown";

/** Which attempt of which target. */
export interface AttemptKey {
  readonly targetId: string;
  readonly number: number;
}

/** One try to publish a target, as it is stored. */
export interface Attempt extends AttemptKey {
  /** The task's latest call within the attempt. */
  readonly callNumber: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** null while the attempt is open. */
  readonly outcome: AttemptOutcome | null;
  readonly code: string;
  readonly message: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly isNotSent: boolean;
}

/** Whether nothing more happens to the task by itself. */
export function isFinal(status: TaskStatus): boolean {
  return status === "published" || status === "failed" || status === "dropped";
}

/** Attempts that have ended, over all generations. */
export function countAttempts(task: Pick<Task, "attemptNumber" | "isAttemptOpen">): number {
  return task.isAttemptOpen ? task.attemptNumber - 1 : task.attemptNumber;
}

/** A key of the task for maps and sets. */
export function nameTask(key: TaskKey): string {
  return `${key.targetId}/${key.generation}`;
}
