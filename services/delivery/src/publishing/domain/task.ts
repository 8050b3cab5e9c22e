import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";

export type TaskStatus =
  /** Waits until it is due. */
  | "queued"
  /** A worker holds the lease; nothing visible has begun. */
  | "working"
  /** The visible call is marked: it may leave, or may have left, until `callUntil`. */
  | "calling"
  /** A visible call ended without a known outcome; waits for the next look. */
  | "unknown"
  /** A worker looks at the platform. */
  | "reconciling"
  | "published"
  | "failed"
  /** Not wanted any more, or made superfluous by another generation. */
  | "dropped";

/** The publication of one target at one generation. */
export interface Task {
  readonly targetId: string;
  readonly generation: number;
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: TaskStatus;
  /** Nobody touches the task before. */
  readonly wakeAt: Date;
  /** When it was to be published: at its time, or when somebody commanded it. */
  readonly dueAt: Date;
  /** No visible call starts after it. */
  readonly publishBefore: Date;
  readonly fence: number;
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
  /** When the first call with an unknown outcome began: reading back starts there. */
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

export type AttemptOutcome = "published" | "retry" | "failed" | "unknown";

/** One try to publish a target, as it is stored. */
export interface Attempt {
  readonly targetId: string;
  readonly number: number;
  /** The task's latest call within the attempt. */
  readonly callNumber: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
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
