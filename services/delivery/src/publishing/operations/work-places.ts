import { isSuspect, type ClaimedTask } from "#src/publishing/domain/task.ts";

/** Maximum number of publish tasks in work in this process at a time. */
const MAX_IN_WORK = 300;
/**
 * Maximum number of publish tasks of one workspace in work in this process; at the maximum, no more of them are claimed. The
 * tasks of one claim can exceed it, but still leave capacity for other workspaces.
 */
const MAX_OF_WORKSPACE = 200;

/** The publish tasks that this process has in work. */
export class WorkPlaces {
  readonly #ofWorkspaces = new Map<string, number>();
  #inWork = 0;
  #suspects = 0;

  get inWork(): number {
    return this.#inWork;
  }

  get free(): number {
    return MAX_IN_WORK - this.#inWork;
  }

  /** Number of tasks in work that crashed their process several times in a row. */
  get suspects(): number {
    return this.#suspects;
  }

  /** The workspaces that have reached their limit; no more of their tasks are claimed. */
  get busyWorkspaces(): readonly string[] {
    return [...this.#ofWorkspaces]
      .filter(([, count]) => count >= MAX_OF_WORKSPACE)
      .map(([id]) => id);
  }

  take(task: ClaimedTask): void {
    this.#add(task, 1);
  }

  leave(task: ClaimedTask): void {
    this.#add(task, -1);
  }

  #add(task: ClaimedTask, change: 1 | -1): void {
    const { workspaceId } = task;
    const count = (this.#ofWorkspaces.get(workspaceId) ?? 0) + change;
    if (count > 0) this.#ofWorkspaces.set(workspaceId, count);
    else this.#ofWorkspaces.delete(workspaceId);
    this.#inWork += change;
    if (isSuspect(task)) this.#suspects += change;
  }
}
