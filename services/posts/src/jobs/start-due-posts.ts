import { holdRelays } from "@postrider/shared/outbox/pass";
import type { Sql } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createAgeGauge } from "@postrider/shared/telemetry/metrics";
import { extendTargets, findNextDue, lockMissedPosts, startDuePosts } from "#src/db/due-posts.ts";
import { lockTargetsOf } from "#src/db/targets.ts";
import { changeTargets } from "#src/operations/change-targets.ts";

/** A transaction's worth. Beyond it, what the rows before leave behind in the index is read again for each batch. */
const BATCH_POSTS = 2000;
/** The failures of a batch are written with their targets. */
const BATCH_MISSED = 100;
/** The safety net: another replica may have accepted a post that is due sooner, and be gone. */
const POLL_MS = 500;
/** How soon to look again at what is due and held by somebody else. */
const HELD_MS = 20;

const oldestDue = createAgeGauge(
  "posts_oldest_due_seconds",
  "How long the earliest scheduled post that has not begun has been due.",
);

const MISSED = { code: "missed", message: "", retryable: true };

export interface SchedulerDeps {
  readonly sql: Sql;
  /** How late a post may be started; later ones fail. */
  readonly missedAfterMs: number;
  readonly nudgeRelay: () => void;
}

/** Starts a batch of the posts that are due and returns how many. It is started once whoever crashes: one transaction. */
export async function startDueBatch({
  sql,
  missedAfterMs,
  nudgeRelay,
}: SchedulerDeps): Promise<number> {
  const count = await sql.begin(async (tx) => {
    // When thousands are due at once, all of them begin before the first are worked on.
    const [batch] = await Promise.all([
      startDuePosts(tx, { missedAfterMs, limit: BATCH_POSTS }),
      holdRelays(tx),
    ]);
    if (batch.count === 0) return 0;
    await extendTargets(tx, batch.outdated, missedAfterMs);
    failpoint("posts.in-scheduler");
    return batch.count;
  });
  if (count > 0) {
    failpoint("posts.scheduler-committed");
    nudgeRelay();
  }
  return count;
}

async function startAll(deps: SchedulerDeps): Promise<void> {
  while ((await startDueBatch(deps)) === BATCH_POSTS);
}

/** Fails a batch of the posts that are too late, gives back what they had reserved, and returns how many. */
export async function failMissedBatch({
  sql,
  missedAfterMs,
  nudgeRelay,
}: SchedulerDeps): Promise<number> {
  const count = await sql.begin(async (tx) => {
    const posts = await lockMissedPosts(tx, { missedAfterMs, limit: BATCH_MISSED });
    if (posts.length === 0) return 0;
    const targets = await lockTargetsOf(tx, posts);
    const pairs = targets.map((before) => ({
      before,
      after: { ...before, status: "failed" as const, error: MISSED },
    }));
    await changeTargets(tx, { posts, pairs, command: "failed" });
    return posts.length;
  });
  if (count > 0) nudgeRelay();
  return count;
}

/** The job, and a way to tell it of a post that is due sooner than it knows. */
export interface Scheduler extends AsyncDisposable {
  nudge(scheduledAt: Date): void;
}

/**
 * Starts posts at their time, in any number of replicas. It sleeps until the next post is due, by the database's clock;
 * the process's own only arms the timer.
 */
export function startScheduler(options: SchedulerDeps & { readonly logger: Logger }): Scheduler {
  const { sql, logger } = options;
  let wakesAt = 0;
  const loop = startLoop({
    idleMs: POLL_MS,
    work: async () => {
      const dueMs = (await findNextDue(sql)) ?? POLL_MS;
      oldestDue.set({}, dueMs < 0 ? new Date(Date.now() + dueMs) : undefined);
      if (dueMs <= 0) {
        const missed = await failMissedBatch(options);
        const started = await startDueBatch(options);
        // So many are due that two connections are at it.
        if (started === BATCH_POSTS) await Promise.all([startAll(options), startAll(options)]);
        if (missed > 0) logger.warn({ job: "start-due-posts", count: missed }, "posts were missed");
        if (missed + started > 0) return true;
      }
      const pauseMs = Math.min(POLL_MS, dueMs <= 0 ? HELD_MS : Math.ceil(dueMs));
      wakesAt = Date.now() + pauseMs;
      return pauseMs;
    },
    onError: (error) =>
      logger.warn({ err: error, job: "start-due-posts" }, "starting posts failed"),
  });
  return {
    nudge: (scheduledAt) => {
      if (scheduledAt.getTime() < wakesAt) loop.nudge();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}
