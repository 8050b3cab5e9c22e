import type {
  Deleted,
  Failure,
  TargetErrorCode,
  Unknown,
} from "@postrider/platforms/publishing/outcome";
import { DEFAULT_LIMIT_MS, nextRetryMs } from "#src/domain/retry-wait.ts";
import type { RetryPolicy } from "./retry-policy.ts";

/** Key of a request to delete a published target. */
export interface DeletionKey {
  readonly targetId: string;
  readonly deletion: number;
}

/**
 * Key of a deletion task together with the fencing token of its worker. If the stored fencing token differs, another
 * worker has claimed the deletion.
 */
export interface HeldDeletion extends DeletionKey {
  readonly fence: number;
}

/**
 * Returns the key of a deletion with the fencing token of its worker as a string, for maps. Without the token, the result of a
 * worker that lost its lease could stand for that of the worker that took it.
 */
export function nameHeldDeletion({ targetId, deletion, fence }: HeldDeletion): string {
  return `${targetId}/${deletion}/${fence}`;
}

/** The task of deleting one published target. */
export interface DeletionTask extends HeldDeletion {
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  /** The id that the platform gave the published post; empty if it is not known. */
  readonly externalId: string;
  /**
   * Whether the delivery service itself published the post with this id, for this target and account. Otherwise the
   * post is not deleted.
   */
  readonly isPublishedByUs: boolean;
  /** The address of the published post; null if it is not known. */
  readonly permalink: string | null;
  readonly status: "queued" | "working" | "deleted" | "failed";
  /**
   * No process claims the deletion task before this instant. While the task is in work, its lease ends at this instant.
   */
  readonly wakeAt: Date;
  readonly crashCount: number;
  readonly retryCount: number;
  readonly version: number;
  readonly errorCode: TargetErrorCode | null;
  readonly errorMessage: string | null;
  readonly createdAt: Date;
  /** Headers of the event that requested the deletion; null in rows that an older release created. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/**
 * How one try to delete a post from its platform ended. A refused access token is not included, because the worker
 * renews the token and repeats the call.
 */
export type DeletionResult =
  | Deleted
  | Exclude<Failure, { kind: "token_refused" }>
  | Unknown
  /** The post cannot be deleted for a reason that does not come from the platform. */
  | { readonly kind: "given_up"; readonly code: TargetErrorCode; readonly message: string };

export interface DeletionDecision {
  /** The new state of the deletion task, with its version number increased by one. */
  readonly task: DeletionTask;
  /** The instant until which all deletions of the account wait because of the platform's rate limit. */
  readonly holdUntil?: Date;
}

/**
 * How long after its request a deletion is given up if the platform still answers with rate limits, in milliseconds.
 */
const GIVE_UP_MS = 24 * 60 * 60_000;

type Repeatable = Extract<DeletionResult, { kind: "retryable" | "unknown" }>;
type Fault = Pick<Extract<DeletionResult, { kind: "given_up" }>, "code" | "message">;

function end(task: DeletionTask, fault?: Fault): DeletionTask {
  return {
    ...task,
    status: fault === undefined ? "deleted" : "failed",
    version: task.version + 1,
    errorCode: fault?.code ?? null,
    errorMessage: fault?.message ?? null,
  };
}

function requeue(task: DeletionTask, wakeAt: Date, fault: Fault): DeletionTask {
  return {
    ...task,
    status: "queued",
    wakeAt,
    crashCount: 0,
    version: task.version + 1,
    errorCode: fault.code,
    errorMessage: fault.message,
  };
}

/**
 * Decides what follows when a platform answers a deletion with a rate limit. The wait does not count as a retry, and
 * all tasks of the account wait.
 */
function onLimit(task: DeletionTask, fault: Fault, now: Date, waitMs: number): DeletionDecision {
  const holdUntil = new Date(now.getTime() + waitMs);
  const isOver = holdUntil.getTime() - task.createdAt.getTime() > GIVE_UP_MS;
  return { task: isOver ? end(task, fault) : requeue(task, holdUntil, fault), holdUntil };
}

interface Moment {
  readonly now: Date;
  readonly random: number;
}

function onRepeatable(
  task: DeletionTask,
  result: Repeatable,
  { now, random }: Moment,
  policy: RetryPolicy,
): DeletionDecision {
  if (result.kind === "retryable" && result.isLimit === true)
    return onLimit(task, result, now, result.retryAfterMs ?? DEFAULT_LIMIT_MS);
  const isNamed = result.kind === "retryable";
  const code = isNamed ? result.code : "platform_unavailable";
  const fault: Fault = { code, message: result.message };
  const plannedMs = nextRetryMs(policy, task.retryCount, random);
  if (plannedMs === undefined) return { task: end(task, fault) };
  const waitMs = (isNamed ? result.retryAfterMs : undefined) ?? plannedMs;
  const queued = requeue(task, new Date(now.getTime() + waitMs), fault);
  return { task: { ...queued, retryCount: task.retryCount + 1 } };
}

/**
 * Decides what follows from one try to delete a post from its platform. Deleting again is harmless, so a try with an
 * unknown outcome is repeated like any other temporary failure. The function is pure: the time and a random number are
 * arguments.
 */
export function decideDeletion(
  task: DeletionTask,
  result: DeletionResult,
  moment: Moment,
  policy: RetryPolicy,
): DeletionDecision {
  switch (result.kind) {
    case "deleted":
      return { task: end(task) };
    case "refused":
    case "given_up":
      return { task: end(task, result) };
    case "unknown":
    case "retryable":
      return onRepeatable(task, result, moment, policy);
  }
}
