import type { ISql } from "@postrider/shared/postgres";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { SearchFloor } from "@postrider/shared/postgres/search-floor";
import { inWorkContext } from "@postrider/shared/tracing/work-span";
import { CallMarker } from "#src/calls/call-marker.ts";
import { doubtCalls } from "#src/calls/doubt.ts";
import { listLostCalls } from "#src/calls/marks.ts";
import { settleWithin } from "#src/calls/worker.ts";
import { claimTasks, claimUnsupportedTasks } from "#src/publishing/db/claims.ts";
import { findNextTask, nextTask, type NextTask } from "#src/publishing/db/next-task.ts";
import { closeBreakers } from "#src/publishing/db/platform-breakers.ts";
import type { TaskFloors } from "#src/publishing/db/task-floors.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import {
  nameClaim,
  SUSPECT_CRASHES,
  type ClaimedTask,
  type TaskEvent,
  type TaskKey,
} from "#src/publishing/domain/task.ts";
import { CallPace } from "#src/publishing/jobs/claim-tasks/call-pace.ts";
import { DatabaseOutages } from "#src/publishing/jobs/claim-tasks/database-outages.ts";
import { createEventRecorder } from "#src/publishing/jobs/claim-tasks/event-recorder.ts";
import { createHandleStore } from "#src/publishing/jobs/claim-tasks/handle-store.ts";
import { LeasedTasks } from "#src/publishing/jobs/claim-tasks/leased-tasks.ts";
import {
  OpenCalls,
  type PublishContext,
} from "#src/publishing/jobs/claim-tasks/publish-context.ts";
import { workTasks } from "#src/publishing/jobs/claim-tasks/work-tasks.ts";
import type { PublishingDeps } from "#src/publishing/operations/dependencies.ts";
import { claimLateness, recordClaim } from "#src/publishing/operations/metrics.ts";

export interface ClaimTasksOptions extends PublishingDeps {
  readonly owner: string;
}

/** Disposing waits until open publishing calls end and their outcomes are recorded. */
export interface TaskClaims extends AsyncDisposable {
  readonly nudge: () => void;
  /** Milliseconds since this process last looked for publish tasks successfully. */
  claimAgeMs(): number;
}

type Attempted = Pick<TaskEvent, "attemptNumber">;

const POLL_MS = 200;
/** How often to look for lost calls and doubtful tasks: they exist even while all is paused. */
const IDLE_LOOK_MS = 5_000;
/** How often to look for doubtful tasks that became ready long after the restore. */
const THOROUGH_LOOK_MS = 30_000;
/** Claiming ten tasks costs about as much as claiming one. */
const MIN_CLAIM_INTERVAL_MS = 20;
const MAX_BATCH = 50;
/** Lost calls, and tasks on unsupported platforms, that one pass records. */
const MAX_LOSSES = 100;
const UNSUPPORTED = {
  kind: "given_up",
  code: "missed",
  message: "the installed version of Postrider does not support the platform",
} as const;
/** How long after a call's deadline a stopping process waits; then the call counts as lost. */
const CALL_MARGIN_MS = 2_000;

export function startClaimTasks(options: ClaimTasksOptions): TaskClaims {
  const claims = new Claims(options);
  const loop = startDueLoop({
    sql: options.sql,
    isDue: (sql) => claims.isDue(sql),
    idleMs: IDLE_LOOK_MS,
    work: () => claims.pass(),
    onError: (error) => {
      claims.onFailedPass();
      options.logger.warn(
        { err: error },
        "publishing tasks could not be claimed; claiming is tried again",
      );
    },
  });
  claims.onFree = loop.nudge;
  return {
    nudge: loop.nudge,
    claimAgeMs: () => performance.now() - claims.passedAt,
    [Symbol.asyncDispose]: () => claims.stop(loop),
  };
}

class Claims {
  onFree: () => void = () => undefined;
  passedAt = performance.now();
  readonly #options: ClaimTasksOptions;
  readonly #stopping = new AbortController();
  readonly #context: PublishContext;
  readonly #batches = new Set<Promise<void>>();
  readonly #platforms: readonly string[];
  readonly #floor = new SearchFloor<TaskFloors>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  #thoroughAt = Number.NEGATIVE_INFINITY;
  #claimedAt = Number.NEGATIVE_INFINITY;
  readonly #outages: DatabaseOutages;

  constructor(options: ClaimTasksOptions) {
    const { sql, logger, settings } = options;
    this.#options = options;
    this.#platforms = Object.keys(options.connectors);
    this.#outages = new DatabaseOutages(settings.leaseMs);
    this.#context = {
      deps: options,
      marker: new CallMarker(sql, TASK_TABLE, nameClaim),
      pace: new CallPace({ settings, now: () => performance.now() }),
      recorder: createEventRecorder(options),
      handleStore: createHandleStore(sql),
      inWork: new LeasedTasks({
        sql,
        leaseMs: settings.leaseMs,
        logger,
        onEnd: () => this.onFree(),
      }),
      openCalls: new OpenCalls(),
      stopping: this.#stopping.signal,
    };
  }

  isDue(sql: ISql) {
    return sql`
      (select wait_ms <= 0 from (${nextTask(sql, this.#platforms, this.#floor.from)}) as next)`;
  }

  /** Returns the milliseconds until the next claim is due, or true if it is due at once. */
  async pass(): Promise<boolean | number> {
    const waitForMoreMs = this.#claimedAt + MIN_CLAIM_INTERVAL_MS - performance.now();
    if (this.#context.inWork.count > 0 && waitForMoreMs > 0) return Math.ceil(waitForMoreMs);
    const { waitMs, floors } = await this.#findNext();
    const readyInMs = waitMs ?? IDLE_LOOK_MS;
    this.#recordPass();
    const isReady = readyInMs <= 0;
    const isLookDue = performance.now() - this.#lookedAt >= (isReady ? POLL_MS : IDLE_LOOK_MS);
    if (!isReady && !isLookDue) return Math.ceil(readyInMs);
    if (!(await this.#options.guard.isOwn())) return POLL_MS;
    if (isLookDue) await this.#lookForLosses(floors);
    const isFull = await this.#claimReady(floors);
    this.#recordPass();
    return isFull || POLL_MS;
  }

  async #findNext(): Promise<NextTask> {
    const floors = this.#floor.next(performance.now());
    const next = await findNextTask(this.#options.sql, this.#platforms, floors);
    this.#outages.onAnswer();
    this.#floor.moveTo(next.floors);
    return next;
  }

  #recordPass(): void {
    this.passedAt = performance.now();
    recordClaim();
  }

  onFailedPass(): void {
    this.#outages.onFailure();
    this.#floor.reset();
  }

  /** Returns whether there may be more ready tasks. */
  async #claimReady(floors: TaskFloors): Promise<boolean> {
    const { sql, owner, settings } = this.#options;
    const { leaseMs, maxPerPlatform } = settings;
    const { claimable, hasSuspect, busyWorkspaces } = this.#context.inWork;
    const limit = Math.min(MAX_BATCH, claimable);
    if (limit <= 0) return false;
    this.#claimedAt = performance.now();
    const options = {
      owner,
      leaseMs,
      limit,
      platforms: this.#platforms,
      suspectAfter: SUSPECT_CRASHES,
      maxSuspects: hasSuspect ? 0 : 1,
      mayTakeOver: this.#outages.mayTakeOver(),
      maxPerPlatform,
      busyWorkspaces,
      floors,
    };
    const { tasks, hasMore } = await sql.begin((tx) => claimTasks(tx, options));
    if (tasks.length > 0) this.#work(tasks);
    return hasMore;
  }

  #work(tasks: readonly ClaimedTask[]): void {
    for (const { platform, latenessMs } of tasks)
      claimLateness.observe({ platform }, latenessMs / 1000);
    const batch = workTasks(this.#context, tasks).finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
  }

  /** At most once per `POLL_MS`. Ends holds of other settings if these settings never hold. */
  async #lookForLosses(floors: TaskFloors): Promise<void> {
    this.#lookedAt = performance.now();
    const { sql, settings } = this.#options;
    if (settings.holdAfterUnknowns === 0) await closeBreakers(sql);
    const { inWork } = floors;
    const lost = await listLostCalls<TaskKey, Attempted>(sql, TASK_TABLE, MAX_LOSSES, inWork);
    await Promise.all(
      lost.map(({ cause, ...call }) => this.#record(cause, { kind: "call_lost", ...call })),
    );
    const isThorough = this.#lookedAt - this.#thoroughAt >= THOROUGH_LOOK_MS;
    if (isThorough) await this.#endUnsupported();
    if (await doubtCalls(sql, TASK_TABLE, settings.visibleCallMs, isThorough))
      this.#lookedAt = Number.NEGATIVE_INFINITY;
    else if (isThorough) this.#thoroughAt = this.#lookedAt;
  }

  async #endUnsupported(): Promise<void> {
    const { sql, owner, settings } = this.#options;
    const { leaseMs } = settings;
    const limits = { owner, leaseMs, platforms: this.#platforms, limit: MAX_LOSSES };
    const tasks = await claimUnsupportedTasks(sql, limits);
    await Promise.all(
      tasks.map(({ cause, ...task }) => this.#record(cause, { ...UNSUPPORTED, ...task })),
    );
  }

  async #record(cause: ClaimedTask["cause"], event: TaskEvent): Promise<void> {
    await inWorkContext([{ cause }], () => this.#context.recorder.record(event));
  }

  async stop(loop: AsyncDisposable): Promise<void> {
    // The signal is aborted first, so that no publishing call begins from now on. The current pass
    // of the loop may still claim tasks and then releases them.
    this.#stopping.abort();
    await loop[Symbol.asyncDispose]();
    const { visibleCallMs } = this.#options.settings;
    // An open publishing call that sends media has a later deadline than `visibleCallMs`.
    const waitMs = Math.max(visibleCallMs, this.#context.openCalls.remainingMs()) + CALL_MARGIN_MS;
    await settleWithin(this.#batches, waitMs);
    await this.#context.recorder.drain();
    await this.#context.inWork[Symbol.asyncDispose]();
  }
}
