import { releaseTasks } from "#src/publishing/db/leases.ts";
import type { ClaimedTask } from "#src/publishing/domain/task.ts";
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

/**
 * Average time in milliseconds after which a task is tried again when the posts service, the accounts service or the
 * database did not answer.
 */
const BACK_OFF_MS = 1_000;
/** Average time in milliseconds after which a publish task is tried again when the media service did not answer. */
const MEDIA_BACK_OFF_MS = 5_000;

/** Returns a random wait in milliseconds for one task, so that tasks that failed together do not retry together. */
export function backOffMs({ random }: Pick<PublishingDeps, "random">): number {
  return BACK_OFF_MS * (0.5 + random());
}

/** Returns a random wait in milliseconds, as `backOffMs` does, for a task without an answer of the media service. */
export function mediaBackOffMs({ random }: Pick<PublishingDeps, "random">): number {
  return MEDIA_BACK_OFF_MS * (0.5 + random());
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
