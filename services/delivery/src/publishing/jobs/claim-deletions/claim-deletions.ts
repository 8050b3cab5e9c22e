import type { ISql } from "@postrider/shared/postgres";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { SearchFloor } from "@postrider/shared/postgres/search-floor";
import {
  claimDeletions,
  findNextDeletion,
  isDeletionDue,
} from "#src/publishing/db/deletion-claims.ts";
import type { DeletionTask } from "#src/publishing/domain/deletion.ts";
import {
  LEASES_PER_DELETION,
  type CheckDeps,
} from "#src/publishing/jobs/claim-deletions/check-deletion.ts";
import { createDeletionRecorder } from "#src/publishing/jobs/claim-deletions/deletion-recorder.ts";
import {
  workDeletions,
  type DeletionContext,
} from "#src/publishing/jobs/claim-deletions/work-deletions.ts";
import type { PublishingDeps } from "#src/publishing/operations/dependencies.ts";

export interface ClaimDeletionsOptions
  extends Omit<PublishingDeps, "posts" | "spool" | "clocks">, CheckDeps {
  readonly owner: string;
}

/** Disposing aborts open platform calls, because deletions can be repeated. */
export interface DeletionClaims extends AsyncDisposable {
  readonly nudge: () => void;
}

const IDLE_MS = 30_000;
const MAX_IN_WORK = 50;
/** Over all processes, so that a silent platform does not delay deletions on others. */
const MAX_PER_PLATFORM = 16;

export function startClaimDeletions(options: ClaimDeletionsOptions): DeletionClaims {
  const deletions = new Deletions(options);
  const loop = startDueLoop({
    sql: options.sql,
    isDue: (sql) => deletions.isDue(sql),
    idleMs: IDLE_MS,
    work: () => deletions.pass(),
    onError: (error) => {
      deletions.onFailedPass();
      options.logger.warn(
        { err: error },
        "tasks that delete posts from platforms could not be claimed; claiming is tried again",
      );
    },
  });
  deletions.onFree = loop.nudge;
  return {
    nudge: loop.nudge,
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
  readonly #context: DeletionContext;
  readonly #stopping = new AbortController();
  readonly #batches = new Set<Promise<void>>();
  readonly #floor = new SearchFloor();
  #inWork = 0;

  constructor(options: ClaimDeletionsOptions) {
    this.#options = options;
    this.#context = {
      deps: options,
      recorder: createDeletionRecorder(options),
      stopping: this.#stopping.signal,
    };
  }

  isDue(sql: ISql) {
    return isDeletionDue(sql, this.#floor.from);
  }

  /** Returns the milliseconds until the next claim is due, or true if it is due at once. */
  async pass(): Promise<boolean | number> {
    const { sql, owner, settings, guard } = this.#options;
    const limit = MAX_IN_WORK - this.#inWork;
    if (limit <= 0) return IDLE_MS;
    const next = await findNextDeletion(sql, this.#floor.next(performance.now()));
    this.#floor.moveTo(next.floor);
    if (next.waitMs === null) return IDLE_MS;
    if (next.waitMs > 0) return Math.min(IDLE_MS, Math.ceil(next.waitMs));
    if (!(await guard.isOwn())) return IDLE_MS;
    const leaseMs = settings.leaseMs * LEASES_PER_DELETION;
    const limits = {
      owner,
      leaseMs,
      limit,
      maxPerPlatform: MAX_PER_PLATFORM,
      since: next.floor,
    };
    const { tasks, hasMore } = await sql.begin((tx) => claimDeletions(tx, limits));
    if (tasks.length > 0) this.#work(tasks);
    return hasMore || IDLE_MS;
  }

  #work(tasks: readonly DeletionTask[]): void {
    this.#inWork += tasks.length;
    const batch = workDeletions(this.#context, tasks, () => {
      this.#inWork -= 1;
      this.onFree();
    }).finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
  }

  onFailedPass(): void {
    this.#floor.reset();
  }

  stop(): void {
    this.#stopping.abort();
  }

  async drain(): Promise<void> {
    await Promise.all(this.#batches);
  }
}
