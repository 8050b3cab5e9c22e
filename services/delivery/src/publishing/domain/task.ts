import { createHash } from "node:crypto";
import type { Handles } from "@postrider/platforms/publishing/handles";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { normalizeText } from "@postrider/platforms/text/normalize-text";
import type { CallEvent } from "#src/calls/call-event.ts";
import type { Attempt, Call, Decision } from "#src/calls/call.ts";
import type { Trade } from "#src/calls/decide-in-order.ts";
import { TARGET } from "#src/calls/kinds.ts";

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
export interface Task extends Call, HeldKey {
  readonly generation: number;
  readonly postId: string;
  /** When the target is to be published: its scheduled time, or the time at which the user requested it. */
  readonly dueAt: Date;
  /**
   * Number of the publishing attempt that began last, counted over all publish requests of the target; 0 if no attempt
   * began.
   */
  readonly attemptNumber: number;
  readonly isAttemptOpen: boolean;
  readonly permalink: string | null;
  readonly errorCode: TargetErrorCode | null;
}

/**
 * An event about a publish task, and the number of the attempt in which it happened; 0 if the task had no attempt yet.
 */
export type TaskEvent = TaskKey & { readonly attemptNumber: number } & CallEvent;

/**
 * A change of a publish task that is reported to the posts service, with the attempt that this change ended.
 */
export interface TargetUpdate {
  readonly task: Task;
  readonly attempt: Attempt | undefined;
  /** Whether the platform has told the post id or address of a target that was reported as published before. */
  readonly hasNewAddress?: boolean;
}

/** Returns those changes of publish tasks that are reported to the posts service. */
export function toTargetUpdates({ changes, attempt }: Decision<Task>): readonly TargetUpdate[] {
  const ended = attempt === undefined || attempt.outcome === null ? undefined : attempt;
  return changes
    .filter(({ isReported }) => isReported)
    .map(({ call }) => ({ task: call, attempt: ended }));
}

/** What `decideInOrder` needs to know about publish tasks. */
export const TASKS: Trade<TaskKey, Task, TaskEvent> = {
  name: nameTask,
  kindOf: () => TARGET,
  isSibling: (a, b) => a.targetId === b.targetId,
  isAttemptOf: (attempt, event) =>
    attempt.targetId === event.targetId && attempt.number === event.attemptNumber,
};

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
  readonly claimedAt: Date;
  /** How long the publish task had been ready when it was claimed, in milliseconds. */
  readonly latenessMs: number;
  /** Whether the time `publishBefore`, after which the task must not be published, has passed. */
  readonly isTooLate: boolean;
  readonly platformLimit: UsedUpLimit | null;
  /** Headers of the event that requested the publish task; null in rows that an older release created. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/** A claimed publish task whose handles (upload ids and similar values from the platform) are unsealed. */
export interface OpenTask extends ClaimedTask {
  readonly handles: Handles;
}

/** Key of a publishing attempt: the id of the target and the number of the attempt. */
export interface AttemptKey {
  readonly targetId: string;
  readonly number: number;
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
