import { createHash } from "node:crypto";
import type { Handles } from "@postrider/platforms/publishing/handles";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { normalizeText } from "@postrider/platforms/text/normalize-text";
import type { CallEvent } from "#src/calls/call-event.ts";
import type { Attempt, Call, Decision } from "#src/calls/call.ts";
import type { Trade } from "#src/calls/decide-in-order.ts";
import { TARGET } from "#src/calls/kinds.ts";
import { isLiveCheck } from "./live-check.ts";

export interface TaskKey {
  readonly targetId: string;
  readonly generation: number;
}

/** A stored fence that differs means that another worker has claimed the task. */
export interface LeasedKey extends TaskKey {
  readonly fence: number;
}

/** The work of publishing one target (one post on one account) for one publish request. */
export interface Task extends Call, LeasedKey {
  readonly generation: number;
  readonly postId: string;
  readonly dueAt: Date;
  /** Counted over all publish requests of the target; 0 if no attempt began. */
  readonly attemptNumber: number;
  /** Of a task in work: when it was claimed. */
  readonly updatedAt: Date;
  readonly isAttemptOpen: boolean;
  readonly permalink: string | null;
  readonly errorCode: TargetErrorCode | null;
}

/** `attemptNumber` is 0 if the task had no attempt yet. */
export type TaskEvent = TaskKey & { readonly attemptNumber: number } & CallEvent;

export interface TargetUpdate {
  readonly task: Task;
  readonly attempt: Attempt | undefined;
  /** Of a target that was reported as published before. */
  readonly isLaterUpdate?: boolean;
}

/** Those that the posts service learns of, which knows no live check. */
export function toTargetUpdates({ changes, attempt }: Decision<Task>): readonly TargetUpdate[] {
  const ended = attempt === undefined || attempt.outcome === null ? undefined : attempt;
  return changes
    .filter(({ call, isReported }) => isReported && !isLiveCheck(call))
    .map(({ call }) => ({ task: call, attempt: ended }));
}

export const TASKS: Trade<TaskKey, Task, TaskEvent> = {
  name: nameTask,
  kindOf: () => TARGET,
  isSibling: (a, b) => a.targetId === b.targetId,
  isAttemptOf: (attempt, event) =>
    attempt.targetId === event.targetId && attempt.number === event.attemptNumber,
};

/** Each value is sealed on its own. A plain text means that someone changed the database. */
export type StoredHandles = Readonly<Record<string, string | { readonly sealed: string }>>;

/**
 * From then on a task is a suspect. A process works on one suspect at a time, so that one that does
 * not cause the crashes ends without another crash.
 */
export const SUSPECT_CRASHES = 3;

export function isSuspect({ crashCount }: Task): boolean {
  return crashCount >= SUSPECT_CRASHES;
}

export interface UsedUpLimit {
  readonly code: TargetErrorCode;
  readonly message: string;
  readonly waitMs: number;
}

export interface ClaimedTask extends Task {
  readonly handles: StoredHandles | null;
  readonly claimedAt: Date;
  readonly latenessMs: number;
  /** Whether the time `publishBefore`, after which the task must not be published, has passed. */
  readonly isTooLate: boolean;
  readonly platformLimit: UsedUpLimit | null;
  /** Null in rows that an older release created. */
  readonly cause: Readonly<Record<string, string>> | null;
}

export interface OpenTask extends ClaimedTask {
  readonly handles: Handles;
}

export interface AttemptKey {
  readonly targetId: string;
  readonly number: number;
}

/** Of the attempt that a worker continues or begins; the mark stores it, or else the outcome. */
export function attemptInWork(
  task: Pick<Task, "status" | "attemptNumber" | "isAttemptOpen">,
): number {
  const isBegun = task.status === "working" && !task.isAttemptOpen;
  return isBegun ? task.attemptNumber + 1 : task.attemptNumber;
}

/** Returns how many publishing attempts of a target have ended, over all its publish requests. */
export function countAttempts(task: Pick<Task, "attemptNumber" | "isAttemptOpen">): number {
  return task.isAttemptOpen ? task.attemptNumber - 1 : task.attemptNumber;
}

export function nameTask(key: TaskKey): string {
  return `${key.targetId}/${key.generation}`;
}

/** One process can hold two claims of a task: it lost the lease and claimed it again. */
export function nameClaim(key: LeasedKey): string {
  return `${nameTask(key)}/${key.fence}`;
}

/** The parts of a post that differ when a reader can tell two posts of one account apart. */
export interface HashedContent {
  /** In the form of `PublishingConnector.comparableText`. */
  readonly text: string;
  readonly title: string | undefined;
  /** Ids of the media in the order in which the post shows them. */
  readonly mediaIds: readonly string[];
}

/** A search cannot tell equal hashes apart: an account never has two such open calls. */
export function hashContent(content: HashedContent): string {
  const parts = [normalizeText(content.text), normalizeText(content.title), ...content.mediaIds];
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
