import { startLoop, type Loop } from "@postrider/shared/process/loop";
import { causeOf, contextOf } from "@postrider/shared/telemetry/cause";
import { runInContext } from "@postrider/shared/telemetry/request-context";
import { claimTasks, findNextWakeMs, listLostCalls } from "#src/publishing/db/claims.ts";
import { doubtTasks } from "#src/publishing/db/doubts.ts";
import type { ClaimedTask } from "#src/publishing/domain/held-task.ts";
import { CallMarker } from "#src/publishing/jobs/publishing/call-marker.ts";
import { CallsInAir } from "#src/publishing/jobs/publishing/calls-in-air.ts";
import type { PublishingDeps } from "#src/publishing/jobs/publishing/deps.ts";
import { LeaseKeeper, type Lease } from "#src/publishing/jobs/publishing/lease-keeper.ts";
import { claimLateness, noteClaim } from "#src/publishing/jobs/publishing/metrics.ts";
import { Recorder } from "#src/publishing/jobs/publishing/recorder.ts";
import { workBatch } from "#src/publishing/jobs/publishing/work-batch.ts";
import { release, type Workshop } from "#src/publishing/jobs/publishing/work.ts";

export interface ClaimTasksOptions extends Omit<PublishingDeps, "onEvents"> {
  /** Which process this is. */
  readonly owner: string;
  /** Called after a commit that appended events. */
  readonly onEvents: () => void;
}

/** Publishes until disposed of; disposing waits for the visible calls in the air and for their outcomes to be written. */
export interface TaskClaims extends AsyncDisposable {
  /** There may be something to claim. */
  nudge(): void;
  /** Milliseconds since tasks were claimed last, or looked for without a find. */
  claimAgeMs(): number;
}

const POLL_MS = 200;
/** While tasks are in work, those that come next are gathered for so long: a claim and its questions cost much the same for ten as for one. */
const GATHER_MS = 20;
const MAX_BATCH = 50;
const MAX_IN_WORK = 200;
const MAX_LOST_CALLS = 100;
/** A call that has not ended so long after its deadline never will; it is looked for like one that was lost. */
const CALL_MARGIN_MS = 2_000;
/** So long at a time tasks that crashed have the process for themselves, one after the other. */
const SUSPECT_TURN_MS = 2_000;

export function startClaimTasks(options: ClaimTasksOptions): TaskClaims {
  const claims = new Claims(options);
  const loop = startLoop({
    idleMs: POLL_MS,
    work: () => claims.pass(),
    onError: (error) => options.logger.warn({ err: error }, "claiming failed"),
  });
  claims.onFree = () => loop.nudge();
  return {
    nudge: () => loop.nudge(),
    claimAgeMs: () => performance.now() - claims.passedAt,
    [Symbol.asyncDispose]: () => claims.stop(loop),
  };
}

class Claims {
  onFree: () => void = () => undefined;
  passedAt = performance.now();
  readonly #options: ClaimTasksOptions;
  readonly #stopping = new AbortController();
  readonly #shop: Workshop;
  readonly #batches = new Set<Promise<void>>();
  #inWork = 0;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #claimedAt = Number.NEGATIVE_INFINITY;
  /** A task whose worker was lost: claimed, and waiting until it has the process for itself. */
  #suspect: { readonly task: ClaimedTask; readonly lease: Lease } | undefined;
  #isAlone = false;
  #turnEndsAt = 0;

  constructor(options: ClaimTasksOptions) {
    const { sql, logger, settings } = options;
    this.#options = options;
    this.#shop = {
      deps: options,
      marker: new CallMarker(sql),
      recorder: new Recorder(options),
      leases: new LeaseKeeper({ sql, leaseMs: settings.leaseMs, logger }),
      calls: new CallsInAir(),
      stopping: this.#stopping.signal,
    };
  }

  /** One look for work; returns what the loop wants to know. */
  async pass(): Promise<boolean | number> {
    const gatherMs = this.#claimedAt + GATHER_MS - performance.now();
    if (this.#inWork > 0 && gatherMs > 0) return Math.ceil(gatherMs);
    const waitMs = await findNextWakeMs(this.#options.sql);
    this.#notePassed();
    if (waitMs === undefined) return POLL_MS;
    if (waitMs > 0) return Math.min(POLL_MS, Math.ceil(waitMs));
    const isFull = (await this.#options.guard.isOwn()) && (await this.#takeSome());
    this.#notePassed();
    return isFull || POLL_MS;
  }

  #notePassed(): void {
    this.passedAt = performance.now();
    noteClaim();
  }

  async #takeSome(): Promise<boolean> {
    await this.#lookForLosses();
    return await this.#claimSome();
  }

  async #claimSome(): Promise<boolean> {
    if (this.#isAlone) return false;
    if (this.#suspect !== undefined) {
      if (this.#inWork === 0) this.#workAlone(this.#suspect);
      return false;
    }
    const limit = Math.min(MAX_BATCH, MAX_IN_WORK - this.#inWork);
    if (limit <= 0) return false;
    this.#claimedAt = performance.now();
    const tasks = await this.#claim(limit, false);
    if (tasks.length > 0) this.#work(tasks);
    return tasks.length === limit;
  }

  /** A task that took its process along does so alone the next time, lest others are blamed for it. */
  #workAlone({ task, lease }: { readonly task: ClaimedTask; readonly lease: Lease }): void {
    this.#suspect = undefined;
    this.#isAlone = true;
    this.#work([task], () => {
      lease[Symbol.dispose]();
      this.#isAlone = false;
      // The next one follows at once while the turn lasts; then the others are served first.
      if (performance.now() < this.#turnEndsAt) this.#lookedAt = Number.NEGATIVE_INFINITY;
    });
  }

  async #findSuspect(): Promise<void> {
    if (this.#isAlone || this.#suspect !== undefined) return;
    const [task] = await this.#claim(1, true);
    if (task === undefined) return;
    this.#suspect = { task, lease: this.#shop.leases.hold(task) };
    if (performance.now() > this.#turnEndsAt)
      this.#turnEndsAt = performance.now() + SUSPECT_TURN_MS;
  }

  async #claim(limit: number, isSuspect: boolean): Promise<readonly ClaimedTask[]> {
    const { sql, owner, settings, connectors } = this.#options;
    return await claimTasks(sql, {
      owner,
      leaseMs: settings.leaseMs,
      limit,
      platforms: Object.keys(connectors),
      isSuspect,
      maxPerPlatform: settings.maxPerPlatform,
      maxPerWorkspace: settings.maxPerWorkspace,
    });
  }

  #work(tasks: readonly ClaimedTask[], onEnd?: () => void): void {
    this.#inWork += tasks.length;
    for (const { platform, latenessMs } of tasks)
      claimLateness.observe({ platform }, latenessMs / 1000);
    const batch = workBatch(this.#shop, tasks, () => {
      this.#inWork -= 1;
      onEnd?.();
      this.onFree();
    }).finally(() => this.#batches.delete(batch));
    this.#batches.add(batch);
  }

  /**
   * Calls whose process is gone, tasks that a restore has put in doubt, and tasks that crashed: rare, so they are looked for
   * at the pace of the poll.
   */
  async #lookForLosses(): Promise<void> {
    if (performance.now() - this.#lookedAt < POLL_MS) return;
    this.#lookedAt = performance.now();
    const { sql, settings } = this.#options;
    const lost = await listLostCalls(sql, MAX_LOST_CALLS);
    await Promise.all(
      lost.map(({ callNumber, cause, ...task }) =>
        runInContext(contextOf(causeOf(cause ?? {})), () =>
          this.#shop.recorder.record({ ...task, happening: { kind: "call_lost", callNumber } }),
        ),
      ),
    );
    if (await doubtTasks(sql, settings.visibleCallMs)) this.#lookedAt = Number.NEGATIVE_INFINITY;
    await this.#findSuspect();
  }

  async stop(loop: Loop): Promise<void> {
    // Aborted first: from here on no visible call begins. The loop's turn in hand may still claim, and gives back.
    this.#stopping.abort();
    await loop[Symbol.asyncDispose]();
    if (this.#suspect !== undefined) await release(this.#shop, [this.#suspect.task], 0);
    const { visibleCallMs } = this.#options.settings;
    // A call that carries media has longer; it is in the air by now, because none begins any more.
    const waitMs = Math.max(visibleCallMs, this.#shop.calls.restMs()) + CALL_MARGIN_MS;
    await Promise.race([Promise.all(this.#batches), onAbort(AbortSignal.timeout(waitMs))]);
    await this.#shop.recorder.drain();
    await this.#shop.leases[Symbol.asyncDispose]();
  }
}

async function onAbort(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}
