import type { CallMarker } from "#src/calls/call-marker.ts";
import { releaseCalls } from "#src/calls/table.ts";
import { TASK_TABLE, type TaskReason } from "#src/publishing/db/task-table.ts";
import type { ClaimedTask, TaskKey } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "../../operations/dependencies.ts";
import type { CallPace } from "./call-pace.ts";
import type { EventRecorder } from "./event-recorder.ts";
import type { HandleStore } from "./handle-store.ts";
import type { LeasedTasks } from "./leased-tasks.ts";

export interface PublishContext {
  readonly deps: PublishingDeps;
  readonly marker: CallMarker<TaskKey, TaskReason>;
  readonly pace: CallPace;
  readonly recorder: EventRecorder;
  readonly handleStore: HandleStore;
  readonly inWork: LeasedTasks;
  readonly openCalls: OpenCalls;
  /** After that no publishing call begins, and running steps end. */
  readonly stopping: AbortSignal;
}

/** Average wait after the media service did not answer. */
const MEDIA_BACK_OFF_MS = 5_000;

export function mediaBackOffMs({ random }: Pick<PublishingDeps, "random">): number {
  return MEDIA_BACK_OFF_MS * (0.5 + random());
}

/** If it fails, the tasks can be claimed again when their leases end. */
export async function release(
  { deps }: Pick<PublishContext, "deps">,
  tasks: readonly ClaimedTask[],
  delayMs: number,
): Promise<void> {
  if (tasks.length === 0) return;
  try {
    await releaseCalls(deps.sql, TASK_TABLE, tasks, delayMs);
  } catch (error) {
    deps.logger.warn(
      { err: error, count: tasks.length },
      "publishing tasks could not be released; they can be claimed again when their leases end",
    );
  }
}

export class OpenCalls {
  readonly #deadlines = new Set<{ readonly ms: number }>();

  /** Disposing of the result ends the registration. */
  begin(callMs: number): Disposable {
    const deadline = { ms: performance.now() + callMs };
    this.#deadlines.add(deadline);
    return { [Symbol.dispose]: () => void this.#deadlines.delete(deadline) };
  }

  /** Until the last open call must end; 0 if none is open. */
  remainingMs(): number {
    const now = performance.now();
    return Math.max(0, ...[...this.#deadlines].map(({ ms }) => Math.ceil(ms - now)));
  }
}
