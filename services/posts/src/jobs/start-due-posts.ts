import { holdRelays } from "@postrider/shared/outbox/pass";
import { startDueLoop } from "@postrider/shared/postgres/due-loop";
import { SearchFloor } from "@postrider/shared/postgres/search-floor";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createAgeGauge } from "@postrider/shared/telemetry/metrics";
import {
  type DueOptions,
  extendTargets,
  isPostDue,
  listDuePosts,
  listMissedPosts,
  lockMissedPosts,
  nextDue,
  startDuePosts,
} from "#src/db/due-posts.ts";
import { lockTargetsOf } from "#src/db/targets.ts";
import { changeTargets, MISSED } from "#src/operations/change-targets.ts";
import type { PostsDeps } from "#src/operations/dependencies.ts";
import { RefusedPosts } from "#src/operations/refused-posts.ts";

/** Large, because each batch has to skip the index entries that previous batches left. */
const BATCH_POSTS = 2000;
/** Listed at a time when more than a batch is due; posts that become due meanwhile wait. */
const BACKLOG_POSTS = 10 * BATCH_POSTS;
/** The transaction also writes the targets of these posts. */
const BATCH_MISSED = 100;
/** How often all rows are searched, for example those of a restored database. */
const IDLE_MS = 30_000;
const HELD_MS = 20;
/** The relay does not wait any longer while posts are this late. */
const MAX_HOLD_MS = 1_000;

const oldestDue = createAgeGauge(
  "posts_oldest_due_seconds",
  "How long the earliest scheduled post that has not begun has been due.",
);

type SchedulerDeps = Pick<PostsDeps, "sql" | "missedAfterMs" | "nudgeRelay"> &
  Pick<DueOptions, "since" | "ids" | "except"> & {
    /** Whether the relay waits. Default: false. */
    readonly holdsRelay?: boolean;
  };

interface WithRefused {
  readonly refused: RefusedPosts;
}

/** The batch is one transaction, so each post is started exactly once. */
export async function startDueBatch({
  sql,
  nudgeRelay,
  holdsRelay = false,
  ...options
}: SchedulerDeps): Promise<number> {
  const count = await sql.begin(async (tx) => {
    const [batch] = await Promise.all([
      startDuePosts(tx, { ...options, limit: BATCH_POSTS }),
      holdsRelay ? holdRelays(tx) : undefined,
    ]);
    if (batch.count === 0) return 0;
    await extendTargets(tx, batch.outdated, options.missedAfterMs);
    failpoint("posts.in-scheduler");
    return batch.count;
  });
  if (count > 0) {
    failpoint("posts.scheduler-committed");
    nudgeRelay();
  }
  return count;
}

/**
 * The workspaces take turns, so that any number of posts of one delays no other. The posts are
 * listed once and not for each batch, because the list costs as much as a batch.
 */
async function startBacklog(deps: SchedulerDeps & WithRefused): Promise<void> {
  const ids = await listDuePosts(deps.sql, { ...deps, limit: BACKLOG_POSTS });
  let begun = 0;
  const startAll = async (): Promise<void> => {
    while (begun < ids.length) {
      const from = begun;
      begun += BATCH_POSTS;
      const part = ids.slice(from, begun);
      await deps.refused.handleOthers(
        (only) => startDueBatch({ ...deps, ids: only ?? part }),
        () => Promise.resolve(part),
      );
    }
  };
  // Two loops, each with its own database connection.
  await Promise.all([startAll(), startAll()]);
}

/** Frees quota and duplicate guards of posts that are too late; returns their number. */
export async function failMissedBatch({
  sql,
  nudgeRelay,
  ...options
}: SchedulerDeps): Promise<number> {
  const count = await sql.begin(async (tx) => {
    const posts = await lockMissedPosts(tx, { ...options, limit: BATCH_MISSED });
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

type LoopDeps = SchedulerDeps & WithRefused & { readonly logger: Logger };

async function startDue(options: LoopDeps, dueMs: number): Promise<number> {
  // When thousands of posts are due at once, all of them are started before the first events are
  // published, but the events of other workspaces do not wait for long.
  const deps = { ...options, holdsRelay: dueMs > -MAX_HOLD_MS };
  const started = await deps.refused.handleOthers(
    (ids) => startDueBatch({ ...deps, ids }),
    () => listDuePosts(deps.sql, { ...deps, limit: BATCH_POSTS }),
  );
  // A full batch means that many more posts are due.
  if (started === BATCH_POSTS) await startBacklog(deps);
  return started;
}

/** Posts that are too late fail. */
async function failMissed(deps: LoopDeps): Promise<number> {
  const missed = await deps.refused.handleOthers(
    (ids) => failMissedBatch({ ...deps, ids }),
    () => listMissedPosts(deps.sql, { ...deps, limit: BATCH_MISSED }),
  );
  if (missed > 0)
    deps.logger.warn(
      { job: "start-due-posts", count: missed },
      "posts failed with the code `missed` because their publishing did not start in time; check whether the posts service was down, and MISSED_AFTER_SECONDS",
    );
  return missed;
}

async function failAllMissed(options: SchedulerDeps): Promise<number> {
  let missed = 0;
  for (let count = 1; count > 0; missed += count) count = await failMissedBatch(options);
  return missed;
}

/** Posts that were refused before, apart from the others. */
export async function retryRefused(deps: LoopDeps): Promise<boolean> {
  return await deps.refused.retry(
    async (ids) =>
      (await startDueBatch({ ...deps, ids })) + (await failAllMissed({ ...deps, ids })),
    async (ids) => [
      ...(await listDuePosts(deps.sql, { ...deps, ids, limit: ids.length })),
      ...(await listMissedPosts(deps.sql, { ...deps, ids, limit: ids.length })),
    ],
  );
}

/** An error of one step does not keep the other from running. `dueMs` is 0 or negative. */
async function startOrFail(deps: LoopDeps, dueMs: number): Promise<boolean> {
  let count = 0;
  try {
    count += await startDue(deps, dueMs);
  } finally {
    if (dueMs < -deps.missedAfterMs) count += await failMissed(deps);
  }
  return count > 0;
}

/** `nudge` wakes the job in time for a new scheduled post. */
export interface Scheduler extends AsyncDisposable {
  nudge(scheduledAt: Date): void;
}

/** Sleeps until the next post is due by the clock of the database, in any number of replicas. */
export function startScheduler(options: SchedulerDeps & { readonly logger: Logger }): Scheduler {
  const { sql, logger } = options;
  // The floor is a time at least a minute before the database's time; searches skip posts that are
  // due before it. A post below the floor is rare: it is scheduled for a time after its API
  // request, so its request must have taken longer than that minute.
  const floor = new SearchFloor();
  const refused = new RefusedPosts(logger);
  let wakesAt = 0;
  const loop = startDueLoop({
    sql,
    isDue: (of) => isPostDue(of, floor.from),
    idleMs: IDLE_MS,
    work: async () => {
      const since = floor.next(performance.now());
      const except = refused.list();
      const [next] = await nextDue(sql, since, except);
      floor.moveTo(next.floor);
      const { oldestMs } = next;
      const dueMs = next.dueMs ?? IDLE_MS;
      const isLate = oldestMs !== null && oldestMs < 0;
      oldestDue.set({}, isLate ? new Date(Date.now() + oldestMs) : undefined);
      const deps = { ...options, refused, since, except };
      const hasBegun = dueMs <= 0 && (await startOrFail(deps, dueMs));
      if ((await retryRefused({ ...options, refused })) || hasBegun) return true;
      const pauseMs = Math.min(IDLE_MS, dueMs <= 0 ? HELD_MS : Math.ceil(dueMs));
      wakesAt = Date.now() + pauseMs;
      return pauseMs;
    },
    onError: (error) => {
      floor.reset();
      logger.warn(
        { err: error, job: "start-due-posts" },
        "the publishing of due posts could not be started; the scheduler tries again",
      );
    },
  });
  return {
    nudge: (scheduledAt) => {
      if (scheduledAt.getTime() < wakesAt) loop.nudge();
    },
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}
