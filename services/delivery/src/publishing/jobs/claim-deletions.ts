import { failpoint } from "@postrider/shared/process/failpoints";
import { startLoop } from "@postrider/shared/process/loop";
import { fetchCredentials } from "#src/publishing/clients/accounts.ts";
import {
  claimDeletions,
  findNextDeletionMs,
  releaseDeletions,
} from "#src/publishing/db/deletion-claims.ts";
import type { DeletionTask } from "#src/publishing/domain/deletion.ts";
import { deleteTarget } from "#src/publishing/jobs/deleting/delete-target.ts";
import { DeletionRecorder } from "#src/publishing/jobs/deleting/deletion-recorder.ts";
import type { PublishingDeps } from "#src/publishing/jobs/publishing/deps.ts";
import { forTasks, inTaskSpan } from "./task-span.ts";

export interface ClaimDeletionsOptions extends Omit<
  PublishingDeps,
  "posts" | "media" | "spool" | "clocks"
> {
  /** Which process this is. */
  readonly owner: string;
}

/** Deletes what was published until disposed of; disposing breaks calls off, because they can be repeated. */
export interface DeletionClaims extends AsyncDisposable {
  /** There may be something to claim. */
  nudge(): void;
}

const POLL_MS = 500;
const MAX_IN_WORK = 50;
/** Over all processes, so that a platform that hangs keeps nobody else waiting. */
const MAX_PER_PLATFORM = 16;
/** A deletion whose worker was lost so often is not tried again. */
const MAX_CRASHES = 5;
/** Peers or database away: the deletion costs nothing and is taken again after about this long. */
const BACK_OFF_MS = 1_000;

export function startClaimDeletions(options: ClaimDeletionsOptions): DeletionClaims {
  const deletions = new Deletions(options);
  const loop = startLoop({
    idleMs: POLL_MS,
    work: () => deletions.pass(),
    onError: (error) => options.logger.warn({ err: error }, "claiming deletions failed"),
  });
  deletions.onFree = () => loop.nudge();
  return {
    nudge: () => loop.nudge(),
    [Symbol.asyncDispose]: async () => {
      deletions.stop();
      await loop[Symbol.asyncDispose]();
      await deletions.drain();
    },
  };
}

class Deletions {
  onFree: () => void = () => undefined;
  readonly #options: ClaimDeletionsOptions;
  readonly #recorder: DeletionRecorder;
  readonly #stopping = new AbortController();
  readonly #batches = new Set<Promise<void>>();
  #inWork = 0;

  constructor(options: ClaimDeletionsOptions) {
    this.#options = options;
    this.#recorder = new DeletionRecorder(options);
  }

  /** One look for work; returns what the loop wants to know. */
  async pass(): Promise<boolean | number> {
    const { sql, owner, settings } = this.#options;
    const limit = MAX_IN_WORK - this.#inWork;
    if (limit <= 0) return POLL_MS;
    const waitMs = await findNextDeletionMs(sql);
    if (waitMs === undefined) return POLL_MS;
    if (waitMs > 0) return Math.min(POLL_MS, Math.ceil(waitMs));
    if (!(await this.#options.guard.isOwn())) return POLL_MS;
    const { leaseMs } = settings;
    const tasks = await claimDeletions(sql, {
      owner,
      leaseMs,
      limit,
      maxPerPlatform: MAX_PER_PLATFORM,
    });
    if (tasks.length === 0) return POLL_MS;
    this.#start(tasks);
    // Accounts and platforms that are busy now are left out of the next look: it sees those that wait behind them.
    return true;
  }

  #start(tasks: readonly DeletionTask[]): void {
    this.#inWork += tasks.length;
    const batch = this.#work(tasks).finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
  }

  /** Works claimed deletions side by side; what cannot be given back now is taken again when its lease ends. */
  async #work(tasks: readonly DeletionTask[]): Promise<void> {
    const credentials = await this.#fetchCredentials(tasks);
    await Promise.all(
      tasks.map(async (task, index) => {
        const credential = credentials?.[index];
        try {
          if (task.crashCount >= MAX_CRASHES) await this.#giveUp(task);
          else if (credential === undefined) await this.#release(task, BACK_OFF_MS);
          else await inTaskSpan("delete target", task, () => this.#workOne(task, credential));
        } catch (error) {
          const { logger } = this.#options;
          logger.warn({ err: error, targetId: task.targetId }, "a deletion was interrupted");
        }
        this.#inWork -= 1;
        this.onFree();
      }),
    );
  }

  async #fetchCredentials(tasks: readonly DeletionTask[]) {
    try {
      return await forTasks(tasks, () => fetchCredentials(this.#options.accounts, tasks));
    } catch (error) {
      const { logger } = this.#options;
      logger.warn({ err: error, count: tasks.length }, "deletions given back for a moment");
      return undefined;
    }
  }

  async #workOne(
    task: DeletionTask,
    credential: Awaited<ReturnType<typeof fetchCredentials>>[number],
  ): Promise<void> {
    const stopping = this.#stopping.signal;
    if (stopping.aborted) return await this.#release(task, 0);
    const result = await deleteTarget(this.#options, { task, credential, stopping });
    failpoint("delivery.after-deletion");
    // Broken off by ourselves: that says nothing about the platform.
    if (stopping.aborted && result.kind === "unknown") return await this.#release(task, 0);
    await this.#recorder.record({ task, result });
  }

  async #giveUp(task: DeletionTask): Promise<void> {
    const message = "the worker was lost again and again";
    await this.#recorder.record({
      task,
      result: { kind: "given_up", code: "internal_error", message },
    });
  }

  async #release(task: DeletionTask, delayMs: number): Promise<void> {
    const waitMs = Math.round(delayMs * (0.5 + this.#options.random()));
    await releaseDeletions(this.#options.sql, [task], waitMs);
  }

  stop(): void {
    this.#stopping.abort();
  }

  async drain(): Promise<void> {
    await Promise.all(this.#batches);
  }
}
