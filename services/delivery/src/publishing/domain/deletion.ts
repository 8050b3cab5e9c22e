import type {
  Deleted,
  Failure,
  TargetErrorCode,
  Unknown,
} from "@postrider/platforms/publishing/outcome";
import { DEFAULT_LIMIT_MS, nextRetryMs, type RetryPolicy } from "./retry-policy.ts";

/** Names a request to delete a target. */
export interface DeletionKey {
  readonly targetId: string;
  readonly deletion: number;
}

/** Names a deletion as its worker knows it: with another fence somebody else has it. */
export interface HeldDeletion extends DeletionKey {
  readonly fence: number;
}

/** The deletion of one published target. */
export interface DeletionTask extends HeldDeletion {
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  /** The platform's id of what was published; empty when it is not known. */
  readonly externalId: string;
  readonly status: "queued" | "working" | "deleted" | "failed";
  /** Nobody touches the task before. */
  readonly wakeAt: Date;
  readonly crashCount: number;
  readonly retryCount: number;
  readonly version: number;
  readonly errorCode: TargetErrorCode | null;
  readonly errorMessage: string | null;
  readonly createdAt: Date;
  /** Headers of the event that asked for it; null of what was asked for before they were kept. */
  readonly cause: Readonly<Record<string, string>> | null;
}

/** What one try came to. A refused token is no result: it is refreshed first. */
export type DeletionResult =
  | Deleted
  | Exclude<Failure, { kind: "token_refused" }>
  | Unknown
  /** It cannot be deleted for a reason outside of the platform's answer. */
  | { readonly kind: "given_up"; readonly code: TargetErrorCode; readonly message: string };

export interface DeletionDecision {
  /** The task as it is from now on, its version raised. */
  readonly task: DeletionTask;
  /** Until when the platform's limit holds the whole account back. */
  readonly holdUntil?: Date;
}

/** A platform that does nothing but name limits is not asked any longer than this. */
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

/** Waiting for a limit costs no retry, and the account waits as a whole. */
function onLimit(task: DeletionTask, fault: Fault, now: Date, waitMs: number): DeletionDecision {
  const holdUntil = new Date(now.getTime() + waitMs);
  const isOver = holdUntil.getTime() - task.createdAt.getTime() > GIVE_UP_MS;
  return { task: isOver ? end(task, fault) : requeue(task, holdUntil, fault), holdUntil };
}

interface Moment {
  readonly now: Date;
  /** In [0, 1). */
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
 * What follows from one try to delete a target. Deleting again is harmless, so an unknown outcome is repeated like any
 * other failure that may pass. Pure: time and chance are arguments.
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
