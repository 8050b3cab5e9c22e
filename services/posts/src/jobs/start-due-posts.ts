import { holdRelays } from "@postrider/shared/outbox/pass";
import { failpoint } from "@postrider/shared/process/failpoints";
import { startLoop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createAgeGauge } from "@postrider/shared/telemetry/metrics";
import { extendTargets, findNextDue, lockMissedPosts, startDuePosts } from "#src/db/due-posts.ts";
import { lockTargetsOf } from "#src/db/targets.ts";
import { changeTargets } from "#src/operations/change-targets.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";

/** Maximum number of posts per transaction. Each batch reads the dead index entries of the one before, so it is large. */
const BATCH_POSTS = 2000;
/** Maximum number of missed posts per transaction, which also writes their targets. */
const BATCH_MISSED = 100;
/** How often to look for due posts in any case: another replica may have accepted an earlier one and ended. */
const POLL_MS = 500;
/** How soon to look again when every due post is locked by another replica. */
const HELD_MS = 20;

const oldestDue = createAgeGauge(
  "posts_oldest_due_seconds",
  "How long the earliest scheduled post that has not begun has been due.",
);

const MISSED = { code: "missed", message: "", retryable: true };

type SchedulerDeps = Pick<PostsDeps, "sql" | "missedAfterMs" | "nudgeRelay">;

/** Starts a batch of due posts and returns how many. It is one transaction, so each post is started exactly once. */
export async function startDueBatch({
  sql,
  missedAfterMs,
  nudgeRelay,
}: SchedulerDeps): Promise<number> {
  const count = await sql.begin(async (tx) => {
    // When thousands are due at once, all of them start before the relay sends the first events.
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

/** Fails a batch of posts that are too late, gives back their quota and guards, and returns how many. */
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

/** The job that starts posts; `nudge` wakes it for a post that is due before the next one it knows. */
export interface Scheduler extends AsyncDisposable {
  nudge(scheduledAt: Date): void;
}

/**
 * Starts posts at their time, in any number of replicas. It sleeps until the next post is due by the database's clock; the
 * process's own clock only sets the timer.
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
        // A full batch means that many more are due: two connections share them.
        if (started === BATCH_POSTS) await Promise.all([startAll(options), startAll(options)]);
        if (missed > 0)
          logger.warn(
            { job: "start-due-posts", count: missed },
            "posts that could not be started in time failed with the code missed; check MISSED_AFTER_SECONDS and whether the posts service was down",
          );
        if (missed + started > 0) return true;
      }
      const pauseMs = Math.min(POLL_MS, dueMs <= 0 ? HELD_MS : Math.ceil(dueMs));
      wakesAt = Date.now() + pauseMs;
      return pauseMs;
    },
    onError: (error) =>
      logger.warn(
        { err: error, job: "start-due-posts" },
        "due posts could not be started; the scheduler tries again",
      ),
  });
  return {
    nudge: (scheduledAt) => {
      if (scheduledAt.getTime() < wakesAt) loop.nudge();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}
