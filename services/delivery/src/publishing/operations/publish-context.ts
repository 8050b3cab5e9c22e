import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { TargetContent } from "@postrider/contracts/posts/v1/target_service_pb";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import { releaseTasks } from "#src/publishing/db/leases.ts";
import type { Learned, TaskEvent } from "#src/publishing/domain/decision.ts";
import type { ClaimedTask, OpenTask } from "#src/publishing/domain/task.ts";
import type { CallPace } from "./call-pace.ts";
import type { PublishingDeps } from "./dependencies.ts";
import type { EventRecorder } from "./event-recorder.ts";
import type { TasksInWork } from "./tasks-in-work.ts";
import type { CallMarker, OpenCalls } from "./visible-calls.ts";

/** Dependencies that all publishing workers of the process share. */
export interface PublishContext {
  readonly deps: PublishingDeps;
  readonly marker: CallMarker;
  readonly pace: CallPace;
  readonly recorder: EventRecorder;
  readonly inWork: TasksInWork;
  readonly openCalls: OpenCalls;
  /** Signal that is aborted when the process stops: no publishing call begins after that, and running steps end. */
  readonly stopping: AbortSignal;
}

/** A claimed publish task with everything that the connector of its platform needs. */
export interface TaskInputs {
  readonly task: OpenTask;
  readonly attemptNumber: number;
  readonly connector: PublishingConnector;
  readonly content: TargetContent;
  /** The files of the post as the platform receives them, in order. */
  readonly media: readonly PublicationMedia[];
  readonly credential: Credential;
  /** Aborted when another worker has claimed the task or the process stops. */
  readonly interrupted: AbortSignal;
}

/** How the work on a claimed publish task ended. */
export type WorkEnd =
  /** The worker learned something about the publish task that its caller must record. */
  | { readonly kind: "learned"; readonly event: TaskEvent }
  /** The publish task can be claimed again after `delayMs`; this does not count as an attempt. */
  | { readonly kind: "release"; readonly delayMs: number }
  /** Everything about the publish task is recorded, or another worker has claimed the task. */
  | { readonly kind: "done" };

export const DONE: WorkEnd = { kind: "done" };
export const RELEASE_NOW: WorkEnd = { kind: "release", delayMs: 0 };

/**
 * Average time that a task waits after the posts service, the accounts service or the database did not answer, in
 * milliseconds.
 */
const BACK_OFF_MS = 1_000;

/** Returns a random wait in milliseconds for one task, so that tasks that failed together do not retry together. */
export function backOffMs({ random }: Pick<PublishingDeps, "random">): number {
  return BACK_OFF_MS * (0.5 + random());
}

export function learned(
  { targetId, generation }: ClaimedTask,
  attemptNumber: number,
  what: Learned,
): Extract<WorkEnd, { kind: "learned" }> {
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

/** Releases publish tasks. If the release fails, the tasks can be claimed again when their leases end. */
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
