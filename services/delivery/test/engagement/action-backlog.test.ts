import { randomUUID } from "node:crypto";
import type { Sql, TransactionSql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { doubtCalls } from "#src/calls/doubt.ts";
import { listLostCalls, markCalls } from "#src/calls/marks.ts";
import { claimActions, findNextActionMs } from "#src/engagement/db/action-claims.ts";
import { ACTION_TABLE } from "#src/engagement/db/action-table.ts";
import { countActions } from "#src/engagement/db/backlog-counts.ts";
import { insertManualAction } from "#src/engagement/operations/insert-actions.ts";
import { openDatabase } from "../publishing/fixture.ts";
import { CommentWorld, request } from "./fixture.ts";

const LIMITS = {
  owner: randomUUID(),
  leaseMs: 60_000,
  platforms: ["instagram", "x"],
  maxAccounts: 16,
  maxPerAccount: 4,
  maxPerPlatform: 48,
};
const ENDED = 20_000;
const WAITING = 2_000;

let database: TestDatabase;
const world = new CommentWorld();
const busy = world.addAccount();

beforeAll(async () => {
  database = await openDatabase();
  const { sql } = database;
  await insertActions(sql, { accounts: 500, perAccount: ENDED / 500, status: "succeeded" });
  await insertActions(sql, { accounts: 1, perAccount: WAITING, status: "queued", only: busy.id });
  await database.ownerSql`analyze delivery.comment_actions, delivery.comment_action_queues`;
}, 120_000);
afterAll(() => database[Symbol.asyncDispose]());

/** Inserts comment actions that became due an hour ago, for new accounts or for one account. */
async function insertActions(
  sql: Sql,
  rows: {
    readonly accounts: number;
    readonly perAccount: number;
    readonly status: "queued" | "succeeded";
    readonly only?: string;
  },
): Promise<void> {
  const accountIds =
    rows.only === undefined
      ? Array.from({ length: rows.accounts }, () => randomUUID())
      : [rows.only];
  const isEnded = rows.status === "succeeded";
  await sql`
    insert into comment_actions (
      id, workspace_id, account_id, platform, media_id, comment_id, type, text, call_key, send_before, status, wake_at,
      finished_at
    )
    select gen_random_uuid(), ${busy.workspaceId}, account_id, 'instagram', 'media-1', 'comment-' || n, 'reply', 'Thanks!',
      'reply', now() + interval '1 day', ${rows.status}, now() - interval '1 hour', ${isEnded ? new Date() : null}
    from unnest(${accountIds}::uuid[]) as account_id
    cross join generate_series(1, ${rows.perAccount}::int) as n`;
  await sql`
    insert into comment_action_queues (account_id, workspace_id, platform, wake_at)
    select account_id, ${busy.workspaceId}, 'instagram', case when not ${isEnded} then now() - interval '1 hour' end
    from unnest(${accountIds}::uuid[]) as account_id`;
}

/**
 * Returns the number of rows of the tables for comment actions that the transaction has read so
 * far.
 */
async function rowsRead(tx: TransactionSql): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select sum(seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count
    from pg_stat_xact_user_tables
    where relname in ('comment_actions', 'comment_action_queues')`;
  return row?.count ?? 0;
}

async function claimOne(sql: Sql): Promise<string | undefined> {
  const { actions } = await sql.begin((tx) => claimActions(tx, { ...LIMITS, maxAccounts: 1 }));
  return actions[0]?.id;
}

test("claiming a comment action, finding lost calls and recording that a call begins read few rows, however many actions have ended or wait", async () => {
  const { sql } = database;
  const other = await request(sql, world.addAccount());

  const read = await sql.begin(async (tx) => {
    expect(await findNextActionMs(tx, LIMITS.platforms)).toBeLessThan(0);
    expect(await listLostCalls(tx, ACTION_TABLE, 100)).toEqual([]);
    await doubtCalls(tx, ACTION_TABLE, 1_000, true);
    const { actions } = await claimActions(tx, LIMITS);
    // The account with the backlog gets its maximum number of comment actions in work, and the
    // actions of the other account are claimed without delay.
    expect(actions.filter(({ accountId }) => accountId === busy.id)).toHaveLength(4);
    expect(actions.map(({ id }) => id)).toContain(other);
    const call = { callMs: LIMITS.leaseMs, externalAccountId: "external-1" };
    const requests = actions.slice(0, 1).map((action) => ({ ...action, ...call }));
    expect(await markCalls(tx, ACTION_TABLE, requests)).toMatchObject([{ callNumber: 1 }]);
    return await rowsRead(tx);
  });

  expect(read).toBeLessThan(200);
});

test("a claim does not read the backlog of an account that has its maximum number of comment actions in work", async () => {
  const { sql } = database;
  const read = await sql.begin(async (tx) => {
    await tx`update comment_action_queues set wake_at = now() where account_id = ${busy.id}`;
    const before = await rowsRead(tx);
    const { actions } = await claimActions(tx, LIMITS);
    expect(actions).toEqual([]);
    return (await rowsRead(tx)) - before;
  });

  expect(read).toBeLessThan(60);
});

test("counting the open comment actions reads only open actions, however many actions have ended", async () => {
  const { sql } = database;
  const read = await sql.begin(async (tx) => {
    const counts = await countActions(tx);
    const waiting = counts.filter(({ type, state }) => type === "reply" && state !== "working");
    expect(waiting.reduce((sum, { count }) => sum + count, 0)).toBeGreaterThan(WAITING - 10);
    return await rowsRead(tx);
  });

  expect(read).toBeLessThan(WAITING + 1_000);
});

test("of many requests to hide or show one comment, only the last request keeps waiting, so that a claim reads only one", async () => {
  const { sql } = database;
  const clicked = world.addAccount();
  for (let count = 0; count < 50; count += 1)
    await request(sql, clicked, { type: count % 2 === 0 ? "hide" : "unhide" });
  const last = await request(sql, clicked, { type: "hide" });

  const rows = await sql<{ id: string; status: string; errorCode: string | null }[]>`
    select id, status, error_code
    from comment_actions
    where account_id = ${clicked.id}
    order by id`;
  const replaced = { status: "failed", errorCode: "duplicate_detected" };
  expect(rows.slice(0, -1).map(({ id: _id, ...row }) => row)).toEqual(
    Array.from({ length: 50 }, () => replaced),
  );
  expect(rows.at(-1)).toEqual({ id: last, status: "queued", errorCode: null });
});

test("hiding a comment reads few rows, however many earlier requests to hide or show the same comment have ended", async () => {
  const { sql } = database;
  const tireless = world.addAccount();
  const { id: accountId, workspaceId, platform } = tireless;
  await sql`
    insert into comment_actions (
      id, workspace_id, account_id, platform, media_id, comment_id, type, call_key, send_before, status, wake_at,
      finished_at, call_until, external_account_id
    )
    select gen_random_uuid(), ${workspaceId}, ${accountId}, ${platform}, 'media-1', 'comment-1', 'hide', 'hide', now(),
      'succeeded', now(), now(), now() - interval '1 minute', 'external-2'
    from generate_series(1, ${ENDED}::int)`;
  // The accounts of the other tests would be claimed too, with their backlogs.
  await sql`update comment_action_queues set wake_at = null`;
  await database.ownerSql`analyze delivery.comment_actions`;
  const [read, id] = await sql.begin(async (tx) => {
    const hide = { mediaId: "media-1", commentId: "comment-1", text: null, type: "hide" } as const;
    const action = { id: randomUUID(), workspaceId, accountId, platform, ...hide };
    await insertManualAction(tx, action);
    const { actions } = await claimActions(tx, LIMITS);
    const own = actions.find((each) => each.id === action.id);
    const call = { callMs: 1_000, externalAccountId: "external-2" };
    const requests = own === undefined ? [] : [{ ...own, ...call }];
    expect(await markCalls(tx, ACTION_TABLE, requests)).toMatchObject([{ callNumber: 1 }]);
    return [await rowsRead(tx), own?.id];
  });
  expect(id).toBeDefined();
  // Depending on the sample of `analyze`, one search reads a part of them; 60,000 rows are read
  // without the indexes.
  expect(read).toBeLessThan(ENDED / 2);
});

test("the comment actions of one workspace take at most its share of the places of a platform, however many of its accounts wait", async () => {
  const { sql } = database;
  const newAccount = (workspaceId: string) =>
    ({ id: randomUUID(), workspaceId, platform: "x" }) as const;
  const workspaceId = randomUUID();
  for (let accounts = 0; accounts < 20; accounts += 1) await request(sql, newAccount(workspaceId));
  const other = await request(sql, newAccount(randomUUID()));
  const limits = { ...LIMITS, platforms: ["x"], maxPerPlatform: 8 };
  const claim = async () => (await sql.begin((tx) => claimActions(tx, limits))).actions;

  const claimed = [...(await claim()), ...(await claim())];
  expect(claimed.filter((action) => action.workspaceId === workspaceId)).toHaveLength(4);
  expect(claimed.map(({ id }) => id)).toContain(other);
});

test("a claim takes the comment action of a workspace first that has none in work, even if another workspace has more than a thousand accounts that waited longer", async () => {
  await using other = await openDatabase();
  const { sql } = other;
  await insertActions(sql, { accounts: 1_100, perAccount: 1, status: "queued" });
  const late = await request(sql, world.addAccount());
  await other.migrationSql`vacuum analyze comment_actions, comment_action_queues`;

  const [first, second] = [await claimOne(sql), await claimOne(sql)];

  expect([first, second]).toContain(late);
});

test("claims and marks read few rows, even if the statistics of the database say that no comment action is open", async () => {
  await using quiet = await openDatabase();
  const { sql } = quiet;
  await insertActions(sql, { accounts: 50, perAccount: 40, status: "succeeded" });
  await quiet.migrationSql`vacuum analyze comment_actions, comment_action_queues`;
  await insertActions(sql, { accounts: 16, perAccount: 125, status: "queued" });

  await sql.begin(async (tx) => {
    const { actions } = await claimActions(tx, { ...LIMITS, maxPerPlatform: 128 });
    expect(actions).toHaveLength(64);
    const afterClaim = await rowsRead(tx);
    // Actions that people requested are read a second time, without the private replies.
    expect(afterClaim).toBeLessThan(3_000);
    const requests = actions.map((action) => {
      const { id, accountId: externalAccountId } = action;
      return { ...action, callMs: 1_000, externalAccountId, callKey: id };
    });
    expect(await markCalls(tx, ACTION_TABLE, requests)).toHaveLength(64);
    expect((await rowsRead(tx)) - afterClaim).toBeLessThan(1_500);
  });
});

test("a claim reads few of the equal replies that wait for the outcome of one, and the next claim reads the actions behind them", async () => {
  await using other = await openDatabase();
  const { sql } = other;
  const account = world.addAccount();
  await insertActions(sql, { accounts: 1, perAccount: ENDED, status: "queued", only: account.id });
  await sql`
    update comment_actions
    set comment_id = 'comment-1', wake_at = now() - random() * interval '1 hour'`;
  await sql`
    update comment_actions
    set status = 'unknown', wake_at = now() + interval '1 minute', call_until = now()
    where id = (select id from comment_actions limit 1)`;
  const behind = await request(sql, account, { commentId: "comment-2" });
  await sql`
    update comment_actions
    set wake_at = (
      select wake_at
      from comment_actions
      order by wake_at
      offset 40
      limit 1
    )
    where id = ${behind}`;
  const foreign = await request(sql, world.addAccount());
  await other.migrationSql`vacuum analyze comment_actions, comment_action_queues`;
  const claim = async () =>
    await sql.begin(async (tx) => {
      await tx`update comment_action_queues set wake_at = now()`;
      const before = await rowsRead(tx);
      const { actions } = await claimActions(tx, LIMITS);
      return { ids: actions.map(({ id }) => id), read: (await rowsRead(tx)) - before };
    });

  const first = await claim();
  expect(first.read).toBeLessThan(300);
  expect(first.ids).toEqual([foreign]);
  expect((await claim()).ids).toEqual([behind]);
  // The others wait until the platform is searched for the reply whose outcome is unknown.
  const [resting] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from comment_actions t
    join comment_actions e on e.status = 'unknown' and e.wake_at = t.wake_at
    where t.status = 'queued'`;
  expect(resting?.count).toBeGreaterThan(40);
});
