import { afterAll, beforeEach, expect, test } from "vitest";
import { explainUnmarked, markCalls } from "#src/calls/marks.ts";
import { claimActions, type ClaimedAction } from "#src/engagement/db/action-claims.ts";
import { ACTION_TABLE } from "#src/engagement/db/action-table.ts";
import { markRestored } from "#src/publishing/db/deployment.ts";
import { openDatabase } from "../publishing/fixture.ts";
import { CommentWorld, request } from "./fixture.ts";

const LIMITS = {
  owner: "0198c2f0-0000-7000-8000-000000000001",
  leaseMs: 60_000,
  platforms: ["instagram"],
  maxAccounts: 16,
  maxPerAccount: 4,
  maxPerPlatform: 48,
};
const CALL = { callMs: 1_000, externalAccountId: "external-1" };

const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());
beforeEach(async () => {
  await database.migrationSql`truncate comment_actions, comment_action_queues`;
  await database.sql`update deployment set restored_at = null`;
});

async function claim(): Promise<ClaimedAction> {
  const { actions } = await database.sql.begin((tx) => claimActions(tx, LIMITS));
  const [action] = actions;
  if (action === undefined) throw new Error("no action was claimed");
  return action;
}

async function mark(action: ClaimedAction) {
  return await markCalls(database.sql, ACTION_TABLE, [{ ...action, ...CALL }]);
}

test("a worker cannot begin the platform call of a comment action that another worker has claimed after the lease ended", async () => {
  const { sql } = database;
  await request(sql, new CommentWorld().addAccount());
  const first = await claim();
  await sql`update comment_actions set wake_at = now() - interval '1 second'`;
  await sql`update comment_action_queues set wake_at = now() - interval '1 second'`;
  const second = await claim();
  expect(second).toMatchObject({ id: first.id, status: "working" });

  expect(await mark(first)).toEqual([]);
  expect(await explainUnmarked(sql, ACTION_TABLE, { ...first, ...CALL })).toBe("lost");
  expect(await mark(second)).toMatchObject([{ callNumber: 1 }]);
});

test("a worker cannot begin the platform call of a comment action twice", async () => {
  const { sql } = database;
  await request(sql, new CommentWorld().addAccount());
  const action = await claim();
  expect(await mark(action)).toMatchObject([{ callNumber: 1 }]);

  expect(await mark(action)).toEqual([]);
  expect(await explainUnmarked(sql, ACTION_TABLE, { ...action, ...CALL })).toBe("lost");
});

test.each(["reply", "hide"] as const)(
  "a %s that was claimed before a restore from a backup cannot begin its call afterwards",
  async (type) => {
    const { sql } = database;
    await request(sql, new CommentWorld().addAccount(), { type });
    const action = await claim();
    await markRestored(sql);

    expect(await mark(action)).toEqual([]);
    expect(await explainUnmarked(sql, ACTION_TABLE, { ...action, ...CALL })).toBe("stopped");
  },
);
