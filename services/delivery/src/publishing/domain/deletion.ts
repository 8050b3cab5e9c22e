import type {
  Deleted,
  Failure,
  TargetErrorCode,
  Unknown,
} from "@postrider/platforms/publishing/outcome";
import { DEFAULT_LIMIT_MS, nextRetryMs, type RetryPolicy } from "./retry-policy.ts";

/** Key of a request to delete a published target. */
export interface DeletionKey {
  readonly targetId: string;
  readonly deletion: number;
}

/**
 * Key of a deletion task together with the fence of its worker. If the stored fence differs, another worker holds the
 * deletion.
 */
export interface HeldDeletion extends DeletionKey {
  readonly fence: number;
}

/** Returns the key of a deletion as a string, for maps. */
export function nameDeletion({ targetId, deletion }: DeletionKey): string {
  return `${targetId}/${deletion}`;
}

/** The task of deleting one published target. */
export interface DeletionTask extends HeldDeletion {
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  /** The id that the platform gave the published post; empty if it is not known. */
  readonly externalId: string;
  readonly status: "queued" | "working" | "deleted" | "failed";
  /** No process acts on the deletion task before this instant. */
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

/** How one try to delete a target ended. A refused access token is not a result, because the token is refreshed first. */
export type DeletionResult =
  | Deleted
  | Exclude<Failure, { kind: "token_refused" }>
  | Unknown
  /** The target cannot be deleted for a reason other than an answer of the platform. */
  | { readonly kind: "given_up"; readonly code: TargetErrorCode; readonly message: string };

export interface DeletionDecision {
  /** The new state of the deletion task, with its version raised. */
  readonly task: DeletionTask;
  /** The instant until which the platform's rate limit holds back the whole account. */
  readonly holdUntil?: Date;
}

/** How long after its request a deletion that still meets rate limits is given up. */
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
 * Decides about a deletion that meets a rate limit of the platform. The wait does not count as a retry, and the whole account
 * waits.
 */
function onLimit(task: DeletionTask, fault: Fault, now: Date, waitMs: number): DeletionDecision {
  const holdUntil = new Date(now.getTime() + waitMs);
  const isOver = holdUntil.getTime() - task.createdAt.getTime() > GIVE_UP_MS;
  return { task: isOver ? end(task, fault) : requeue(task, holdUntil, fault), holdUntil };
}

interface Moment {
  readonly now: Date;
  /** A random number in [0, 1). */
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
 * Decides what follows from one try to delete a target. Deleting again is harmless, so a try with an unknown outcome is
 * repeated like any other temporary failure. The function is pure: time and randomness are arguments.
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
