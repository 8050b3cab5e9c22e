import { randomUUID } from "node:crypto";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import { expect, test } from "vitest";
import { doubtCalls } from "#src/calls/doubt.ts";
import { listLostCalls, markCalls } from "#src/calls/marks.ts";
import { releaseCalls } from "#src/calls/table.ts";
import { delayAccounts } from "#src/publishing/db/account-breakers.ts";
import { scheduleAccounts } from "#src/publishing/db/account-queues.ts";
import { claimHeads, claimTasks } from "#src/publishing/db/claims.ts";
import { claimDeletions } from "#src/publishing/db/deletion-claims.ts";
import { findNextTask } from "#src/publishing/db/next-task.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { deletePause, insertPause } from "#src/publishing/db/waits.ts";
import { CLAIM as CLAIM_OF_X } from "./claim.ts";
import { openDatabase, request, World, type TestTarget, openStage } from "./fixture.ts";

const PLATFORMS = ["x", "bluesky"];
const CLAIM = { ...CLAIM_OF_X, platforms: PLATFORMS };

async function claim(sql: Sql, more: Partial<typeof CLAIM> = {}) {
  return await sql.begin((tx) => claimTasks(tx, { ...CLAIM, ...more }));
}

function names({ tasks }: { readonly tasks: readonly { readonly targetId: string }[] }) {
  return tasks.map(({ targetId }) => targetId);
}

interface Backlog {
  readonly platform: PlatformId;
  readonly workspaceId?: string;
  readonly accounts: number;
  readonly perAccount: number;
}

/** Inserts publish tasks that have been due for an hour. Returns the ids of their accounts. */
async function insertBacklog(sql: Sql, backlog: Backlog): Promise<readonly string[]> {
  const { platform, workspaceId = randomUUID(), accounts, perAccount } = backlog;
  const accountIds = Array.from({ length: accounts }, () => randomUUID());
  await sql`
    insert into publish_tasks (target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before)
    select gen_random_uuid(), 1, ${workspaceId}, gen_random_uuid(), account_id, ${platform}, 'queued',
      now() - interval '1 hour', now() - interval '1 hour', now() + interval '1 day'
    from unnest(${accountIds}::uuid[]) as account_id
    cross join generate_series(1, ${perAccount}::int)`;
  return accountIds;
}

/**
 * Requests a publish task that is due now, for an account and a workspace that have no other tasks.
 */
async function requestOther(sql: Sql, world: World, given: Partial<TestTarget> = {}) {
  const target = world.addTarget({ dueAt: new Date(), ...given });
  await request(sql, target);
  return target;
}

/** Returns the number of rows of delivery's tables that the transaction has read so far. */
async function rowsRead(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count
    from pg_stat_xact_user_tables
    where relname in ('publish_tasks', 'account_queues', 'deletion_tasks', 'deletion_queues')`;
  return row?.count ?? 0;
}

test.each(["x", "bluesky"] as const)(
  "three accounts with 1,100 due posts each do not delay a post of another account on %s",
  async (platform) => {
    await using database = await openDatabase();
    const world = new World();
    await insertBacklog(database.sql, { platform: "x", accounts: 3, perAccount: 1_100 });
    const other = await requestOther(database.sql, world, { platform });

    const claimed = names(await claim(database.sql));

    expect(claimed).toHaveLength(4);
    expect(claimed).toContain(other.targetId);
  },
);

test("a claim prefers due tasks of the workspaces with the fewest tasks in progress, however many accounts of another workspace have due tasks", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const backlog = { platform: "x", workspaceId: randomUUID(), perAccount: 1 } as const;
  await insertBacklog(sql, { ...backlog, accounts: 2_000 });
  const first = await requestOther(sql, world);

  const claimed = await claim(sql, { limit: 2 });
  expect(names(claimed)).toContain(first.targetId);

  const second = await requestOther(sql, world);
  expect(names(await claim(sql, { limit: 1 }))).toEqual([second.targetId]);
});

test("a search for due tasks reads a few rows of a paused platform, however many of its tasks are due", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await insertBacklog(sql, { platform: "x", accounts: 2_000, perAccount: 10 });
  await insertPause(sql, "platform", "x");

  await sql.begin(async (tx) => {
    expect(await findNextTask(tx, PLATFORMS, null)).toMatchObject({ waitMs: null });
    expect(await listLostCalls(tx, TASK_TABLE, 100)).toEqual([]);
    expect(await doubtCalls(tx, TASK_TABLE, 60_000, false)).toBe(false);
    expect(await claimTasks(tx, CLAIM)).toEqual({ tasks: [], hasMore: false });
    expect(await rowsRead(tx)).toBeLessThan(10);
  });

  await deletePause(sql, "platform", "x");
  expect((await claim(sql)).tasks).toHaveLength(CLAIM.limit);
});

test("a claim reads few rows of an account with many due tasks", async () => {
  await using database = await openDatabase();
  await insertBacklog(database.sql, { platform: "x", accounts: 10, perAccount: 5_000 });

  await database.sql.begin(async (tx) => {
    expect((await claimTasks(tx, CLAIM)).tasks).toHaveLength(10);
    expect(await rowsRead(tx)).toBeLessThan(300);
  });
});

test("claims and marks do not read all open calls for each task, even if the statistics of the database say that no call is open", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await database.migrationSql`vacuum analyze publish_tasks`;
  await sql`
    insert into publish_tasks (target_id, generation, workspace_id, post_id, account_id, platform, external_account_id,
      content_hash, status, wake_at, due_at, publish_before)
    select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'x', n, n, 'calling',
      now() + interval '1 minute', now(), now() + interval '1 day'
    from generate_series(1, 1_000) as n`;
  await insertBacklog(sql, { platform: "x", accounts: 20, perAccount: 10 });
  await sql`
    update publish_tasks
    set content_hash = target_id, external_account_id = account_id
    where status = 'queued'`;
  const more = { maxPerPlatform: 2_000 };

  const tasks = await sql.begin(async (tx) => {
    const claimed = await claimTasks(tx, { ...CLAIM, ...more });
    expect(await rowsRead(tx)).toBeLessThan(3_000);
    return claimed.tasks;
  });
  await sql.begin(async (tx) => {
    const requests = tasks.map((task) => ({
      ...task,
      callKey: task.targetId,
      externalAccountId: task.accountId,
      callMs: 60_000,
      handles: {},
    }));
    expect(await markCalls(tx, TASK_TABLE, requests)).toHaveLength(20);
    expect(await rowsRead(tx)).toBeLessThan(3_000);
  });
});

test("a claim lets all tasks with the content of an open call rest at once, and the next one takes the task behind them", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const [accountId = ""] = await insertBacklog(sql, {
    platform: "x",
    accounts: 1,
    perAccount: 501,
  });
  await sql`update publish_tasks set content_hash = 'same', external_account_id = 'account'`;
  await sql`
    update publish_tasks
    set status = 'unknown', wake_at = now() + interval '1 hour'
    where target_id = (select target_id from publish_tasks limit 1)`;
  const other = await requestOther(sql, new World(), { accountId });
  await database.migrationSql`vacuum analyze publish_tasks`;

  await sql.begin(async (tx) => {
    expect(await claimTasks(tx, CLAIM)).toEqual({ tasks: [], hasMore: true });
    expect(await rowsRead(tx)).toBeLessThan(3_000);
  });
  await sql`update account_queues set publish_at = now()`;
  expect(names(await claim(sql))).toEqual([other.targetId]);

  await sql`update publish_tasks set status = 'published' where status in ('working', 'unknown')`;
  await sql`update publish_tasks set wake_at = now() where status = 'queued'`;
  expect((await claim(sql)).tasks).toHaveLength(1);
});

test("a task that is too late is claimed to be ended, although the call of an equal one is open", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const backlog = { platform: "x", accounts: 1, perAccount: 3 } as const;
  const [accountId = ""] = await insertBacklog(sql, backlog);
  const ids = await sql<{ targetId: string }[]>`select target_id from publish_tasks`;
  const [open, late] = ids.map(({ targetId }) => targetId);
  await sql`
    update publish_tasks
    set content_hash = 'same', external_account_id = 'account',
      status = case when target_id = ${open ?? ""} then 'unknown' else status end,
      wake_at = case when target_id = ${open ?? ""} then now() + interval '1 hour' else wake_at end`;
  await sql`
    update publish_tasks
    set publish_before = now(), wake_at = wake_at + interval '1 second'
    where target_id = ${late ?? ""}`;

  expect(await claim(sql)).toEqual({ tasks: [], hasMore: true });
  await sql`update account_queues set publish_at = now() where account_id = ${accountId}`;

  expect((await claim(sql)).tasks).toMatchObject([{ targetId: late, isTooLate: true }]);
});

test("a claim reads few of the other due tasks of an account whose first one rests behind an open call", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await insertBacklog(sql, { platform: "x", accounts: 1, perAccount: 5_000 });
  const ids = await sql<{ targetId: string }[]>`select target_id from publish_tasks limit 2`;
  const [open, equal] = ids.map(({ targetId }) => targetId);
  await sql`
    update publish_tasks
    set content_hash = 'same', external_account_id = 'account', wake_at = wake_at - interval '1 minute',
      status = case when target_id = ${open ?? ""} then 'calling' else status end
    where target_id in ${sql([open ?? "", equal ?? ""])}`;
  await database.migrationSql`vacuum analyze publish_tasks`;

  await sql.begin(async (tx) => {
    expect(await claimTasks(tx, CLAIM)).toEqual({ tasks: [], hasMore: true });
    expect(await rowsRead(tx)).toBeLessThan(2_000);
  });
  const resting = await sql`
    select target_id
    from publish_tasks
    where status = 'queued'
    and wake_at > now() - interval '1 minute'`;
  expect(resting).toEqual([{ targetId: equal }]);
});

test("claims skip an account that waits for a rate limit until the limit ends", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const [accountId = ""] = await insertBacklog(sql, { platform: "x", accounts: 1, perAccount: 2 });
  const until = new Date(Date.now() + 60_000);
  await sql.begin((tx) => delayAccounts(tx, [{ accountId, workspaceId: randomUUID(), until }]));

  expect(await claim(sql)).toEqual({ tasks: [], hasMore: true });

  expect(await claim(sql)).toEqual({ tasks: [], hasMore: false });
  expect(await sql`select publish_at, look_at from account_queues`).toMatchObject([
    { publishAt: until, lookAt: null },
  ]);
});

test("a platform is searched for a post with an unknown outcome even while the platform is paused and the account waits for a rate limit", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await requestOther(sql, new World());
  const until = new Date(Date.now() + 60_000);
  await sql.begin((tx) => delayAccounts(tx, [{ ...target, until }]));
  await insertPause(sql, "platform", "x");
  expect((await claim(sql)).tasks).toEqual([]);

  await sql`update publish_tasks set status = 'unknown'`;

  expect((await claim(sql)).tasks).toMatchObject([
    { targetId: target.targetId, status: "reconciling" },
  ]);
});

test("a task that is requested while a claim finds nothing for its account is claimed by the next claim", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const accountId = randomUUID();
  await requestOther(sql, world, { accountId });
  await sql`update publish_tasks set status = 'dropped'`;
  const later = world.addTarget({ accountId });

  const requested = await sql.begin(async (tx) => {
    const { idle } = await claimHeads(tx, CLAIM);
    expect(idle).toEqual([accountId]);
    // The publish request inserts its task before the claim reads the tasks, and then waits for the
    // claim's lock on the account.
    const requesting = request(sql, later);
    await untilBlocked(database.ownerSql);
    await scheduleAccounts(tx, idle);
    return { requesting };
  });
  await requested.requesting;

  expect(names(await claim(sql))).toEqual([later.targetId]);
});

/** Waits until a statement in the database waits for a lock. */
async function untilBlocked(sql: Sql): Promise<void> {
  for (;;) {
    const rows = await sql`
      select 1
      from pg_stat_activity
      where datname = current_database()
      and wait_event_type = 'Lock'`;
    if (rows.length > 0) return;
  }
}

test("a claim neither waits for a task that another transaction is changing nor claims it", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await requestOther(sql, new World());

  await sql.begin(async (tx) => {
    await tx`select 1 from publish_tasks where target_id = ${target.targetId} for update`;
    expect((await claim(sql)).tasks).toEqual([]);
    await tx`update publish_tasks set wake_at = wake_at - interval '1 second'`;
  });

  expect(names(await claim(sql))).toEqual([target.targetId]);
});

test("the next claim finds a task after each change that makes the task claimable", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const accountId = randomUUID();
  const [first, second] = [world.addTarget({ accountId }), world.addTarget({ accountId })] as const;
  await request(sql, first, second);

  const [taken] = (await claim(sql)).tasks;
  if (taken === undefined) throw new Error("no task was claimed");
  expect((await claim(sql)).tasks).toEqual([]);
  await releaseCalls(sql, TASK_TABLE, [taken], 60_000);
  const [other] = (await claim(sql)).tasks;
  expect(other?.targetId).not.toBe(taken.targetId);

  // The lease of the second task ends, as after a crash of the process that worked on it.
  await sql`
    update publish_tasks
    set wake_at = now() - interval '1 second'
    where status = 'working'`;
  const [again] = (await claim(sql)).tasks;
  expect(again).toMatchObject({ targetId: other?.targetId, fence: 2 });

  await sql`update publish_tasks set status = 'published' where status = 'working'`;
  expect((await claim(sql)).tasks).toEqual([]);
  await sql`update publish_tasks set wake_at = now() where status = 'queued'`;
  expect(names(await claim(sql))).toEqual([taken.targetId]);
});

/** Inserts deletions that have been due for an hour. Returns the account of the last one. */
async function insertDeletions(sql: Sql, backlog: Backlog): Promise<string> {
  const { platform, workspaceId = randomUUID(), accounts, perAccount } = backlog;
  const accountIds = Array.from({ length: accounts }, () => randomUUID());
  await sql`
    insert into deletion_tasks (target_id, deletion, workspace_id, post_id, account_id, platform, external_id, status, wake_at)
    select gen_random_uuid(), 1, ${workspaceId}, gen_random_uuid(), account_id, ${platform}, '1', 'queued',
      now() - interval '1 hour'
    from unnest(${accountIds}::uuid[]) as account_id
    cross join generate_series(1, ${perAccount}::int)`;
  return accountIds.at(-1) ?? "";
}

async function claimTargets(sql: Sql, more: Partial<typeof CLAIM> = {}) {
  const options = { ...CLAIM, since: null, ...more };
  return (await sql.begin((tx) => claimDeletions(tx, options))).tasks;
}

test.each(["x", "bluesky"] as const)(
  "the next claim takes a deletion on %s, however many older deletions another workspace has on x",
  async (platform) => {
    await using database = await openDatabase();
    const { sql } = database;
    await insertDeletions(sql, { platform: "x", accounts: 3, perAccount: 1_100 });
    const other = await insertDeletions(sql, { platform, accounts: 1, perAccount: 1 });

    const tasks = await claimTargets(sql);

    expect(tasks).toHaveLength(4);
    expect(tasks.map(({ accountId }) => accountId)).toContain(other);
  },
);

test("a claim reads few rows of accounts with many due deletions, also while they are busy or wait for a limit", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await insertDeletions(sql, { platform: "x", accounts: 9, perAccount: 2_000 });
  const limited = await insertDeletions(sql, { platform: "x", accounts: 1, perAccount: 2_000 });
  const until = new Date(Date.now() + 60_000);
  const limit = { accountId: limited, workspaceId: randomUUID(), until };
  await sql.begin((tx) => delayAccounts(tx, [limit]));
  // Postgres reads a table of one page as a whole.
  await sql`
    insert into deletion_queues (account_id, workspace_id, platform)
    select gen_random_uuid(), gen_random_uuid(), 'x'
    from generate_series(1, 1000)`;
  await database.migrationSql`vacuum analyze deletion_tasks, deletion_queues`;
  const claimAndCount = () =>
    sql.begin(async (tx) => {
      const before = await rowsRead(tx);
      const { tasks } = await claimDeletions(tx, { ...CLAIM, since: null });
      return { claimed: tasks.length, read: (await rowsRead(tx)) - before };
    });

  const first = await claimAndCount();
  expect(first.claimed).toBe(9);
  expect(first.read).toBeLessThan(300);
  const next = await claimAndCount();
  expect(next.claimed).toBe(0);
  expect(next.read).toBeLessThan(20);
});

test("the claims of deletions fill half of a platform's places with those of one workspace, and no more than its places", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const workspaceId = randomUUID();
  const backlog = { platform: "x", accounts: 20, perAccount: 1 } as const;
  await insertDeletions(sql, { ...backlog, workspaceId });
  const more = { maxPerPlatform: 8 };

  expect(await claimTargets(sql, more)).toHaveLength(4);
  expect(await claimTargets(sql, more)).toEqual([]);
  await insertDeletions(sql, backlog);
  await insertDeletions(sql, backlog);
  expect(await claimTargets(sql, more)).toHaveLength(4);
  expect(await claimTargets(sql, more)).toEqual([]);
});

test("the next deletion of an account is claimed when the one in work ends, waits or loses its worker", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await insertDeletions(sql, { platform: "x", accounts: 1, perAccount: 4 });
  const claimOne = async () => {
    const [task, ...others] = await claimTargets(sql);
    expect(others).toEqual([]);
    return task;
  };
  const claimed = [];
  for (const change of [
    sql`status = 'deleted'`,
    sql`status = 'queued', wake_at = now() + interval '1 hour'`,
    sql`wake_at = now() - interval '2 hours'`,
  ]) {
    claimed.push((await claimOne())?.targetId);
    expect(await claimOne()).toBeUndefined();
    await sql`update deletion_tasks set ${change} where status = 'working'`;
  }
  const again = await claimOne();
  expect(again).toMatchObject({ targetId: claimed.at(-1), crashCount: 1 });
  expect(new Set(claimed).size).toBe(3);
});
