import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { renewLeases } from "#src/calls/table.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { isSuspect, nameClaim, type ClaimedTask } from "#src/publishing/domain/task.ts";

const MAX_IN_WORK = 300;

/** `lost` is aborted when another worker has the task. Disposing ends the work. */
export interface Lease extends Disposable {
  readonly lost: AbortSignal;
}

interface LeasedTasksOptions {
  readonly sql: Sql;
  readonly leaseMs: number;
  readonly logger: Logger;
  readonly onEnd: () => void;
}

/** Leases are renewed with one statement, four times per lease duration. */
export class LeasedTasks implements AsyncDisposable {
  readonly #onEnd: () => void;
  readonly #tasks = new Map<ClaimedTask, AbortController>();
  readonly #loop: Loop;

  constructor({ sql, leaseMs, logger, onEnd }: LeasedTasksOptions) {
    this.#onEnd = onEnd;
    const everyMs = leaseMs / 4;
    let isFirst = true;
    this.#loop = startLoop({
      idleMs: everyMs,
      work: async () => {
        if (!isFirst) await this.#renew(sql, leaseMs);
        isFirst = false;
        return everyMs;
      },
      onError: (error) =>
        logger.warn(
          { err: error },
          "the leases of tasks could not be renewed; other workers may claim these tasks when their leases end",
        ),
    });
  }

  get count(): number {
    return this.#tasks.size;
  }

  get #free(): number {
    return MAX_IN_WORK - this.#tasks.size;
  }

  /** Number of tasks that one claim may take: it leaves places for a workspace that comes later. */
  get claimable(): number {
    return Math.ceil(this.#free / 2);
  }

  /** Whether a task in work crashed its process several times in a row. */
  get hasSuspect(): boolean {
    return [...this.#tasks.keys()].some(isSuspect);
  }

  /**
   * The workspaces that have as many tasks as places are free; no more of their tasks are claimed.
   * So however many workspaces have tasks that hang, one more finds places.
   */
  get busyWorkspaces(): readonly string[] {
    const byWorkspace = Map.groupBy(this.#tasks.keys(), ({ workspaceId }) => workspaceId);
    return [...byWorkspace].flatMap(([workspaceId, tasks]) =>
      tasks.length >= this.#free ? [workspaceId] : [],
    );
  }

  lease(task: ClaimedTask): Lease {
    const lost = new AbortController();
    this.#tasks.set(task, lost);
    return {
      lost: lost.signal,
      [Symbol.dispose]: () => {
        this.#tasks.delete(task);
        this.#onEnd();
      },
    };
  }

  async #renew(sql: Sql, leaseMs: number): Promise<void> {
    const leased = [...this.#tasks];
    if (leased.length === 0) return;
    const tasks = leased.map(([task]) => task);
    const renewed = new Set((await renewLeases(sql, TASK_TABLE, tasks, leaseMs)).map(nameClaim));
    for (const [task, lost] of leased) if (!renewed.has(nameClaim(task))) lost.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#loop[Symbol.asyncDispose]();
  }
}
