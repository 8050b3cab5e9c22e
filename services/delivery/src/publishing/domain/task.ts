import { createHash } from "node:crypto";
import type { Handles } from "@postrider/platforms/publishing/handles";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { normalizeText } from "@postrider/platforms/text/normalize-text";

export type TaskStatus =
  /** The publish task waits for its time `wakeAt`. */
  | "queued"
  /** A worker holds the lease of the publish task; the publishing call has not begun. */
  | "working"
  /** The publishing call is recorded as begun: until `callUntil`, the worker may send the call or may have sent it. */
  | "calling"
  /** A publishing call ended with an unknown outcome; the publish task waits for the next search of the platform. */
  | "unknown"
  /** A worker searches the platform for the post of a publishing call. */
  | "reconciling"
  | "published"
  | "failed"
  /**
   * The posts service does not want the target published at this generation (publish request), or another generation is
   * published.
   */
  | "dropped";

/** Key of a publish task: the target, and the number of its publish request. */
export interface TaskKey {
  readonly targetId: string;
  readonly generation: number;
}

/**
 * Key of a publish task together with the fencing token of its worker. If the stored fencing token differs, another
 * worker has claimed the task.
 */
export interface HeldKey extends TaskKey {
  readonly fence: number;
}

/** The work of publishing one target (one post on one account) for one publish request. */
export interface Task extends HeldKey {
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly status: TaskStatus;
  /**
   * No process claims the publish task before this instant. While the task is in work, its lease or its publishing call
   * ends at this instant.
   */
  readonly wakeAt: Date;
  /** When the target is to be published: its scheduled time, or the time at which the user requested it. */
  readonly dueAt: Date;
  /** No publishing call of the task starts after this instant. */
  readonly publishBefore: Date;
  readonly crashCount: number;
  /**
   * Number of the publishing attempt that began last, counted over all publish requests of the target; 0 if no attempt
   * began.
   */
  readonly attemptNumber: number;
  /**
   * Whether the latest publishing attempt has no outcome yet. Neither a rate limit nor a publishing call that was not
   * sent ends an attempt.
   */
  readonly isAttemptOpen: boolean;
  readonly retryCount: number;
  readonly unknownCount: number;
  /**
   * Number of publishing calls of the task whose outcome is unknown. While it is above 0, the post may be visible on
   * the platform.
   */
  readonly openUnknowns: number;
  readonly resendCount: number;
  readonly looks: number;
  readonly isLimited: boolean;
  /**
   * Whether the data was restored from a backup, and a publishing call that the restored data does not contain may have
   * published the target.
   */
  readonly isRestored: boolean;
  readonly callNumber: number;
  /** When the first publishing call with an unknown outcome began. Searches of the platform start from this time. */
  readonly firstUnknownAt: Date | null;
  readonly calledAt: Date | null;
  readonly callUntil: Date | null;
  readonly version: number;
  /**
   * The platform's id of the account, which accounts of several workspaces can share; null until a call begins or the platform is
   * searched for one.
   */
  readonly externalAccountId: string | null;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly publishedAt: Date | null;
  readonly errorCode: TargetErrorCode | null;
  readonly errorMessage: string | null;
}

/**
 * Handles (upload ids and similar values from the platform) as they are stored: each value is sealed separately. A
 * value that was changed in the database may be a plain text, which is refused.
 */
export type StoredHandles = Readonly<Record<string, string | { readonly sealed: string }>>;

/**
 * Number of crashes in a row after which a task is a suspect: the work on it may cause the crashes. A process works on
 * one suspect at a time, so that a suspect that does not cause the crashes ends without another crash.
 */
export const SUSPECT_CRASHES = 3;

export function isSuspect({ crashCount }: Task): boolean {
  return crashCount >= SUSPECT_CRASHES;
}

/** A limit of our app at a platform that is used up, and how long no account of the platform may be used. */
export interface UsedUpLimit {
  readonly code: TargetErrorCode;
  readonly message: string;
  readonly waitMs: number;
}

/** A publish task that this process has just claimed. */
export interface ClaimedTask extends Task {
  /** Handles (upload ids and similar values) that the platform returned to the finished steps of the publish task. */
  readonly handles: StoredHandles | null;
  /** The database's time at the claim of the task. */
  readonly claimedAt: Date;
  /** How long the publish task had been ready when it was claimed, in milliseconds. */
  readonly latenessMs: number;
  /** Whether the time `publishBefore`, after which the task must not be published, has passed. */
  readonly isTooLate: boolean;
  /** The limit of our app at the platform that is used up at the claim of the task, if there is one. */
  readonly platformLimit: UsedUpLimit | null;
  /** Headers of the event that requested the publish task; null in rows that an older release created. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/** A claimed publish task whose handles (upload ids and similar values from the platform) are unsealed. */
export interface OpenTask extends ClaimedTask {
  readonly handles: Handles;
}

export type AttemptOutcome = "published" | "retry" | "failed" | "unknown";

/** Key of a publishing attempt: the id of the target and the number of the attempt. */
export interface AttemptKey {
  readonly targetId: string;
  readonly number: number;
}

/** One try to publish a target, as it is stored. */
export interface Attempt extends AttemptKey {
  /** Number of the publish task's latest publishing call within the attempt. */
  readonly callNumber: number;
  /**
   * The fencing token of the worker that recorded the beginning of the attempt's latest publishing call. Before the first such
   * call, the token of the worker that began the attempt.
   */
  readonly fence: number;
  readonly startedAt: Date;
  readonly finishedAt: Date | null;
  /** How the publishing attempt ended; null while it is open. */
  readonly outcome: AttemptOutcome | null;
  readonly code: string;
  readonly message: string;
  readonly externalId: string | null;
  readonly permalink: string | null;
  readonly isNotSent: boolean;
}

/** Whether a publish task with this status has ended, so that only a new event or request can change it. */
export function isFinal(status: TaskStatus): boolean {
  return status === "published" || status === "failed" || status === "dropped";
}

/** Returns how many publishing attempts of a target have ended, over all its publish requests. */
export function countAttempts(task: Pick<Task, "attemptNumber" | "isAttemptOpen">): number {
  return task.isAttemptOpen ? task.attemptNumber - 1 : task.attemptNumber;
}

/** Returns the key of a publish task as a string, for maps and sets. */
export function nameTask(key: TaskKey): string {
  return `${key.targetId}/${key.generation}`;
}

/**
 * Returns the key of one claim of a publish task as a string. One process can hold two claims of a task: when it lost
 * its lease and has claimed the task again.
 */
export function nameClaim(key: HeldKey): string {
  return `${nameTask(key)}/${key.fence}`;
}

/** The parts of a post that differ when a reader can tell two posts of one account apart. */
export interface HashedContent {
  /**
   * The post's text in the form in which the platform's connector compares texts; see
   * `PublishingConnector.comparableText`.
   */
  readonly text: string;
  readonly title: string | undefined;
  /** Ids of the media in the order in which the post shows them. */
  readonly mediaIds: readonly string[];
}

/**
 * Returns SHA-256 in hex of the normalized text, the title and the media of a post. A search of the platform cannot
 * tell two posts with the same hash apart, so an account never has two open publishing calls with the same hash.
 */
export function hashContent(content: HashedContent): string {
  const parts = [normalizeText(content.text), normalizeText(content.title), ...content.mediaIds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
