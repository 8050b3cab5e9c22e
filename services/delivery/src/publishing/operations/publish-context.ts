import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import { releaseTasks } from "#src/publishing/db/claims.ts";
import type { Learned, TaskEvent } from "#src/publishing/domain/decision.ts";
import type { ClaimedTask, OpenTask } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "./dependencies.ts";
import type { EventRecorder } from "./event-recorder.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { CallMarker, OpenCalls } from "./visible-calls.ts";

/** What all workers of the process share. */
export interface PublishContext {
  readonly deps: PublishingDeps;
  readonly marker: CallMarker;
  readonly recorder: EventRecorder;
  readonly leases: LeaseKeeper;
  readonly openCalls: OpenCalls;
  /** Aborted when the process stops: no visible call begins any more, and steps end. */
  readonly stopping: AbortSignal;
}

/** A claimed task with everything that its connector needs. */
export interface TaskInputs {
  readonly task: OpenTask;
  readonly attemptNumber: number;
  readonly connector: PublishingConnector;
  readonly content: TargetContent;
  readonly credential: Credential;
  /** Aborted when another worker has the task, or the process stops. */
  readonly interrupted: AbortSignal;
}

/** How the work on a claimed task ends. */
export type WorkEnd =
  /** Something was learned that is still to be recorded. */
  | { readonly kind: "learned"; readonly event: TaskEvent }
  /** The task can be claimed again after this long; it costs no attempt. */
  | { readonly kind: "release"; readonly delayMs: number }
  /** Everything is recorded, or another worker has the task. */
  | { readonly kind: "done" };

export const DONE: WorkEnd = { kind: "done" };
export const RELEASE_NOW: WorkEnd = { kind: "release", delayMs: 0 };

/** About how long a task waits after posts, accounts or the database did not answer. */
const BACK_OFF_MS = 1_000;

/** A different wait for each task, so that tasks that failed together do not return together. */
export function backOffMs({ random }: Pick<PublishingDeps, "random">): number {
  return BACK_OFF_MS * (0.5 + random());
}

export function learned(
  { targetId, generation }: ClaimedTask,
  attemptNumber: number,
  what: Learned,
): WorkEnd {
  return { kind: "learned", event: { targetId, generation, attemptNumber, ...what } };
}

export function giveUp(
  task: ClaimedTask,
  attemptNumber: number,
  code: TargetErrorCode,
  message = "",
): WorkEnd {
  return learned(task, attemptNumber, { kind: "given_up", fence: task.fence, code, message });
}

/** Releases tasks; when that fails, their leases end by themselves. */
export async function release(
  { deps }: Pick<PublishContext, "deps">,
  tasks: readonly ClaimedTask[],
  delayMs: number,
): Promise<void> {
  if (tasks.length === 0) return;
  try {
    await releaseTasks(deps.sql, tasks, Math.round(delayMs));
  } catch (error) {
    deps.logger.warn(
      { err: error, count: tasks.length },
      "publishing tasks could not be released; they can be claimed again when their leases end",
    );
  }
}
