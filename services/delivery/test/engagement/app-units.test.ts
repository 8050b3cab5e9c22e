import { CommentService } from "@postrider/contracts/engagement/v1/comment_service_pb";
import type { AppBudget, CommentsConnector } from "@postrider/platforms/comments/connector";
import { ServiceError } from "@postrider/shared/errors";
import { deriveCursorKeys } from "@postrider/shared/secrets/list-cursor";
import { eventually } from "@postrider/shared/testing/poll";
import { createTestPeer } from "@postrider/shared/testing/router";
import { afterAll, beforeEach, expect, test } from "vitest";
import { createCommentRoutes } from "#src/engagement/rpc/comment-service.ts";
import { logger, openDatabase } from "../publishing/fixture.ts";
import {
  CommentWorld,
  readActions,
  request,
  startActionWorker,
  type TestAccount,
} from "./fixture.ts";

/** 100 units at once, and then one in more than 14 minutes. */
const BUDGET: AppBudget = {
  name: "comments",
  units: 200,
  windowMs: 86_400_000,
  burstShare: 0.5,
};
/** Only tests of midnight use it, because the others would fail at midnight. */
const RESET_BUDGET: AppBudget = { ...BUDGET, resetsIn: "America/Los_Angeles" };
const UNITS = { list: 3, read: 1, reply: 10, look: 1 };

let budget: AppBudget;
let world: CommentWorld;
let flood: TestAccount;
let other: TestAccount;

const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  budget = BUDGET;
  world = new CommentWorld();
  flood = world.addAccount({ platform: "youtube" });
  other = world.addAccount({ platform: "youtube" });
  await database.migrationSql`
    truncate comment_actions, comment_action_queues, app_budgets, app_budget_shares, outbox`;
});

function connector(): CommentsConnector {
  const cost = (units: number) => ({ budget, units });
  return {
    ...world.comments("youtube"),
    costs: {
      list: () => cost(UNITS.list),
      read: cost(UNITS.read),
      reply: cost(UNITS.reply),
      setHidden: cost(UNITS.reply),
      look: cost(UNITS.look),
    },
  };
}

const startWorker = () =>
  startActionWorker(database, world, {
    connectors: { comments: { youtube: connector() }, privateReplies: {} },
  });

/** Returns the milliseconds to wait if the read is unavailable; undefined if it succeeds. */
async function read({ workspaceId, id }: TestAccount): Promise<number | undefined> {
  const routes = createCommentRoutes({
    sql: database.sql,
    logger,
    accounts: world.clients(),
    connectors: { comments: { youtube: connector() } },
    settings: { historyDays: 400 },
    cursorKeys: deriveCursorKeys("delivery", ["a secret for tests"]),
    readTimeoutMs: 5_000,
    onEvents: () => undefined,
    nudgeActions: () => undefined,
  });
  const comments = createTestPeer(routes).client(CommentService);
  try {
    await comments.listComments({ workspaceId, accountId: id, mediaId: "media-1" });
    return undefined;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.reason !== "unavailable") throw error;
    return error.retryAfterMs ?? 0;
  }
}

async function readUntilRefused(account: TestAccount): Promise<number> {
  for (let reads = 0; reads < 100; reads += 1) {
    const waitMs = await read(account);
    if (waitMs !== undefined) return waitMs;
  }
  throw new Error("no read was refused");
}

async function usedUnits(): Promise<number> {
  const [row] = await database.sql<[{ usedMs: number }]>`
    select coalesce(max(extract(epoch from budget_until - now())) * 1000, 0)::float8 as used_ms
    from app_budgets
    where platform = 'youtube' and name = 'comments'`;
  return Math.round(row.usedMs / (BUDGET.windowMs / 101));
}

test("a workspace that reads comments without end is told when to ask again, while another workspace reads and replies", async () => {
  const waitMs = await readUntilRefused(flood);
  const reads = world.reads.length;
  // Half of the units that may be used at once.
  expect(reads).toBe(16);
  expect(waitMs).toBeGreaterThan(60_000);
  expect(await readUntilRefused(flood)).toBeGreaterThan(60_000);
  expect(world.reads.length).toBe(reads);

  expect(await read(other)).toBeUndefined();
  await using _worker = startWorker();
  const id = await request(database.sql, other);
  await eventually(async () => (await readActions(database.sql))[0]?.status === "succeeded");
  expect(world.calls.map(({ requestId }) => requestId)).toEqual([id]);
});

test("replies for which the app has no units wait without a call and are sent when the platform gives back its units", async () => {
  budget = RESET_BUDGET;
  await using _worker = startWorker();
  for (let count = 0; count < 7; count += 1)
    await request(database.sql, flood, { commentId: `comment-${count}` });
  const countOf = async (status: string) =>
    (await readActions(database.sql)).filter((action) => action.status === status).length;
  await eventually(async () => (await countOf("succeeded")) === 5);
  await eventually(async () => {
    const [row] = await database.sql<[{ count: number }]>`
      select count(*)::int as count from comment_actions where error_code = 'platform_quota'`;
    return row.count > 0 && (await countOf("queued")) === 2;
  });
  expect(world.calls.length).toBe(5);
  expect(await usedUnits()).toBe(50);

  await database.sql`update app_budgets set taken_at = taken_at - interval '1 day'`;
  await database.sql`update app_budget_shares set taken_at = taken_at - interval '1 day'`;
  await database.sql`update comment_actions set wake_at = now() where status = 'queued'`;
  await database.sql`update comment_action_queues set not_before = now(), wake_at = now()`;
  await eventually(async () => (await countOf("succeeded")) === 7);
});

test("the time to wait for units ends at the latest at the midnight at which the platform gives them back", async () => {
  budget = RESET_BUDGET;
  await readUntilRefused(flood);
  // As after many pages of comments in a short time.
  await database.sql`update app_budgets set budget_until = now() + interval '2 days'`;
  await database.sql`update app_budget_shares set budget_until = now() + interval '2 days'`;
  const [{ leftMs }] = await database.sql<[{ leftMs: number }]>`
    select extract(epoch from (date_trunc('day', now() at time zone 'America/Los_Angeles') + interval '1 day')
      at time zone 'America/Los_Angeles' - now())::float8 * 1000 as left_ms`;
  const waitMs = await read(flood);
  expect(Math.abs((waitMs ?? 0) - leftMs)).toBeLessThan(10_000);
});

test("the units of a call stay charged when the process crashes during the call", async () => {
  const release = world.holdReply();
  const crashing = startWorker();
  await request(database.sql, flood);
  await eventually(() => world.calls.length === 1);
  await crashing.crash();
  release();
  expect(await usedUnits()).toBe(UNITS.reply);
});

test.each([
  ["the same reply", "reply", "reply"],
  ["the opposite", "hide", "unhide"],
] as const)(
  "a workspace uses no units while its action, %s on the comment of a shared channel, waits for the call of another",
  async (_, type, second) => {
    const shared = { platform: "youtube", externalId: "channel" } as const;
    const [first, next] = [world.addAccount(shared), world.addAccount(shared)];
    const release = world.holdReply();
    await using _worker = startWorker();
    await request(database.sql, first, { type });
    await eventually(() => world.calls.length === 1);
    const id = await request(database.sql, next, { type: second });
    // The refused mark notes the channel.
    await eventually(async () => {
      const [row] = await database.sql<[{ isRefused: boolean }]>`
      select external_account_id is not null and status = 'queued' as is_refused
      from comment_actions
      where id = ${id}`;
      return row.isRefused;
    });
    await eventually(async () => (await usedUnits()) === UNITS.reply);
    release();
    await eventually(async () =>
      (await readActions(database.sql)).every(({ status }) => status === "succeeded"),
    );
    expect(await usedUnits()).toBe(2 * UNITS.reply);
  },
);

test("a page of comments is charged the units that it used", async () => {
  world.page = () => ({ kind: "page", comments: [], next: undefined, units: 8 });
  await read(flood);
  expect(await usedUnits()).toBe(8);
  world.page = () => ({ kind: "page", comments: [], next: undefined, units: 1 });
  await read(other);
  expect(await usedUnits()).toBe(9);
});

test("calls of comments leave the budget of metrics unused, and no row stays of a share that is unused again", async () => {
  await database.sql`insert into app_budgets (platform, name) values ('youtube', 'metrics')`;
  await readUntilRefused(flood);
  const [metrics] = await database.sql<{ isUnused: boolean }[]>`
    select budget_until <= now() as is_unused from app_budgets where name = 'metrics'`;
  expect(metrics?.isUnused).toBe(true);
  await database.sql`update app_budget_shares set budget_until = now()`;
  await read(other);
  expect(await database.sql`select workspace_id from app_budget_shares`).toEqual([
    { workspaceId: other.workspaceId },
  ]);
});
