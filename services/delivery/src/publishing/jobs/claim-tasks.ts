import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { causeOf, contextOf } from "@postrider/shared/telemetry/cause";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { claimTasks, findNextTaskMs, listLostCalls } from "#src/publishing/db/claims.ts";
import { doubtTasks } from "#src/publishing/db/doubts.ts";
import type { ClaimedTask } from "#src/publishing/domain/task.ts";
import type { PublishingDeps } from "#src/publishing/operations/dependencies.ts";
import { EventRecorder } from "#src/publishing/operations/event-recorder.ts";
import { LeaseKeeper, type Lease } from "#src/publishing/operations/lease-keeper.ts";
import { claimLateness, recordClaim } from "#src/publishing/operations/metrics.ts";
import { release, type PublishContext } from "#src/publishing/operations/publish-context.ts";
import { CallMarker, OpenCalls } from "#src/publishing/operations/visible-calls.ts";
import { workTasks } from "#src/publishing/operations/work-tasks.ts";

export interface ClaimTasksOptions extends PublishingDeps {
  /** Id of this process, recorded with its leases of publish tasks. */
  readonly owner: string;
}

/**
 * Publishes targets until it is disposed of. Disposing waits until open publishing calls end and their outcomes are
 * recorded.
 */
export interface TaskClaims extends AsyncDisposable {
  /** Claims ready publish tasks now instead of at the next poll. */
  nudge(): void;
  /** Milliseconds since this process last looked for publish tasks successfully. */
  claimAgeMs(): number;
}

const POLL_MS = 200;
/**
 * Minimum time between two claims while publish tasks are in work. Claiming ten tasks costs about as much as claiming one.
 */
const MIN_CLAIM_INTERVAL_MS = 20;
/** Maximum number of publish tasks per claim. */
const MAX_BATCH = 50;
/** Maximum number of publish tasks in work in this process at a time. */
const MAX_IN_WORK = 200;
/** Maximum number of lost publishing calls that are recorded per poll. */
const MAX_LOST_CALLS = 100;
/**
 * How long after the deadline of a publishing call a stopping process still waits for its outcome. After that, the call counts
 * as lost.
 */
const CALL_MARGIN_MS = 2_000;
/** How long publish tasks whose worker was lost may run alone in the process, one after the other, before other tasks run. */
const CRASHED_TURN_MS = 2_000;

export function startClaimTasks(options: ClaimTasksOptions): TaskClaims {
  const claims = new Claims(options);
  const loop = startLoop({
    idleMs: POLL_MS,
    work: () => claims.pass(),
    onError: (error) =>
      options.logger.warn(
        { err: error },
        "publishing tasks could not be claimed; claiming is tried again",
      ),
  });
  claims.onFree = () => loop.nudge();
  return {
    nudge: () => loop.nudge(),
    claimAgeMs: () => performance.now() - claims.passedAt,
    [Symbol.asyncDispose]: () => claims.stop(loop),
  };
}

interface HeldTask {
  readonly task: ClaimedTask;
  readonly lease: Lease;
}

class Claims {
  onFree: () => void = () => undefined;
  passedAt = performance.now();
  readonly #options: ClaimTasksOptions;
  readonly #stopping = new AbortController();
  readonly #context: PublishContext;
  readonly #batches = new Set<Promise<void>>();
  #inWork = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #claimedAt = Number.NEGATIVE_INFINITY;
  /** A claimed publish task whose earlier worker was lost. It waits until no other task runs in this process. */
  #crashed: HeldTask | undefined;
  #isAlone = false;
  #turnEndsAt = 0;

  constructor(options: ClaimTasksOptions) {
    const { sql, logger, settings } = options;
    this.#options = options;
    this.#context = {
      deps: options,
      marker: new CallMarker(sql),
      recorder: new EventRecorder(options),
      leases: new LeaseKeeper({ sql, leaseMs: settings.leaseMs, logger }),
      openCalls: new OpenCalls(),
      stopping: this.#stopping.signal,
    };
  }

  /** Claims publish tasks once. Returns when the loop should claim again. */
  async pass(): Promise<boolean | number> {
    const waitForMoreMs = this.#claimedAt + MIN_CLAIM_INTERVAL_MS - performance.now();
    if (this.#inWork > 0 && waitForMoreMs > 0) return Math.ceil(waitForMoreMs);
    const readyInMs = await findNextTaskMs(this.#options.sql);
    this.#recordPass();
    if (readyInMs === undefined) return POLL_MS;
    if (readyInMs > 0) return Math.min(POLL_MS, Math.ceil(readyInMs));
    if (!(await this.#options.guard.isOwn())) return POLL_MS;
    await this.#lookForLosses();
    const isFull = await this.#claimReady();
    this.#recordPass();
    return isFull || POLL_MS;
  }

  #recordPass(): void {
    this.passedAt = performance.now();
    recordClaim();
  }

  /** Claims ready publish tasks and starts the work on them. Returns whether there may be more ready tasks. */
  async #claimReady(): Promise<boolean> {
    if (this.#isAlone) return false;
    if (this.#crashed !== undefined) {
      if (this.#inWork === 0) this.#workAlone(this.#crashed);
      return false;
    }
    const limit = Math.min(MAX_BATCH, MAX_IN_WORK - this.#inWork);
    if (limit <= 0) return false;
    this.#claimedAt = performance.now();
    const tasks = await this.#claim(limit, false);
    if (tasks.length > 0) this.#work(tasks);
    return tasks.length === limit;
  }

  /** Runs a publish task that may have crashed its process alone, so that a second crash is not attributed to other tasks. */
  #workAlone({ task, lease }: HeldTask): void {
    this.#crashed = undefined;
    this.#isAlone = true;
    this.#work([task], () => {
      lease[Symbol.dispose]();
      this.#isAlone = false;
      // The next task whose worker was lost follows at once while the time for such tasks lasts. After that, the other tasks
      // run first.
      if (performance.now() < this.#turnEndsAt) this.#lookedAt = Number.NEGATIVE_INFINITY;
    });
  }

  async #claimCrashed(): Promise<void> {
    if (this.#isAlone || this.#crashed !== undefined) return;
    const [task] = await this.#claim(1, true);
    if (task === undefined) return;
    this.#crashed = { task, lease: this.#context.leases.hold(task) };
    if (performance.now() > this.#turnEndsAt)
      this.#turnEndsAt = performance.now() + CRASHED_TURN_MS;
  }

  async #claim(limit: number, hasCrashed: boolean): Promise<readonly ClaimedTask[]> {
    const { sql, owner, settings, connectors } = this.#options;
    return await claimTasks(sql, {
      owner,
      leaseMs: settings.leaseMs,
      limit,
      platforms: Object.keys(connectors),
      hasCrashed,
      maxPerPlatform: settings.maxPerPlatform,
      maxPerWorkspace: settings.maxPerWorkspace,
    });
  }

  #work(tasks: readonly ClaimedTask[], onEnd?: () => void): void {
    this.#inWork += tasks.length;
    for (const { platform, latenessMs } of tasks)
      claimLateness.observe({ platform }, latenessMs / 1000);
    const batch = workTasks(this.#context, tasks, () => {
      this.#inWork -= 1;
      onEnd?.();
      this.onFree();
    }).finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
  }

  /**
   * Looks for lost publishing calls, tasks that a restore made uncertain, and tasks that crashed. All three are rare, so one
   * check per poll is enough.
   */
  async #lookForLosses(): Promise<void> {
    if (performance.now() - this.#lookedAt < POLL_MS) return;
    this.#lookedAt = performance.now();
    const { sql, settings } = this.#options;
    const lost = await listLostCalls(sql, MAX_LOST_CALLS);
    await Promise.all(
      lost.map(({ cause, ...call }) =>
        runInContext(contextOf(causeOf(cause ?? {})), () =>
          this.#context.recorder.record({ kind: "call_lost", ...call }),
        ),
      ),
    );
    if (await doubtTasks(sql, settings.visibleCallMs)) this.#lookedAt = Number.NEGATIVE_INFINITY;
    await this.#claimCrashed();
  }

  async stop(loop: Loop): Promise<void> {
    // The signal is aborted first, so that no publishing call begins from now on. The current pass of the loop may still claim
    // tasks and then releases them.
    this.#stopping.abort();
    await loop[Symbol.asyncDispose]();
    if (this.#crashed !== undefined) await release(this.#context, [this.#crashed.task], 0);
    const { visibleCallMs } = this.#options.settings;
    // An open publishing call that sends media has a later deadline than `visibleCallMs`.
    const waitMs = Math.max(visibleCallMs, this.#context.openCalls.remainingMs()) + CALL_MARGIN_MS;
    await Promise.race([Promise.all(this.#batches), onAbort(AbortSignal.timeout(waitMs))]);
    await this.#context.recorder.drain();
    await this.#context.leases[Symbol.asyncDispose]();
  }
}

async function onAbort(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}
