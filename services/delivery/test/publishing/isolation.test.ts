import { randomUUID } from "node:crypto";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { type CLAIM, claim as claimTasks } from "./claim.ts";
import {
  consume,
  insertPublished,
  lastDeletion,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  World,
  type TestTarget,
  untilStatus,
  openStage,
} from "./fixture.ts";

const SHARE = 4;
/** Number of tasks in a backlog; it is larger than the number of tasks that one claim takes. */
const BACKLOG = 1_200;

const claim = (sql: Sql, more: Partial<typeof CLAIM> = {}) =>
  claimTasks(sql, { platforms: ["x", "bluesky"], maxPerPlatform: SHARE, ...more });

/** Returns how many tasks were claimed until none may be. */
async function claimAll(sql: Sql, more: Partial<typeof CLAIM> = {}): Promise<number> {
  let claimed = 0;
  for (let taken = 1; taken > 0; claimed += taken) taken = (await claim(sql, more)).length;
  return claimed;
}

/** Creates `BACKLOG` overdue targets of one workspace on one platform, ten on each account. */
async function addBacklog(
  sql: Sql,
  world: World,
  { platform, workspaceId }: { platform: PlatformId; workspaceId: string },
): Promise<void> {
  const accounts = Array.from({ length: BACKLOG / 10 }, () => randomUUID());
  const dueAt = new Date(Date.now() - 60_000);
  const targets = Array.from({ length: BACKLOG }, (_, index) =>
    world.addTarget({
      platform,
      workspaceId,
      accountId: accounts[index % accounts.length] ?? "",
      dueAt,
    }),
  );
  await request(sql, ...targets);
}

function names(claimed: readonly { readonly targetId: string }[]) {
  return claimed.map(({ targetId }) => targetId);
}

test("a target whose content cannot be read keeps no other one that was claimed with it from being published, and fails as missed when it is too late", async () => {
  await using database = await openDatabase();
  const world = new World();
  const [stuck, late, ...others] = [
    world.addTarget(),
    world.addTarget({ publishBefore: new Date(Date.now() - 1_000) }),
    world.addTarget(),
    world.addTarget(),
  ];
  for (const { targetId } of [stuck, late]) world.unreadable.add(targetId);
  await request(database.sql, stuck, late, ...others);
  await using _worker = startWorker(database, world);
  for (const other of others) await untilStatus(database.sql, other, "published");
  expect(await untilStatus(database.sql, late, "failed")).toMatchObject({ errorCode: "missed" });
  expect((await readTask(database.sql, stuck)).status).not.toBe("failed");
});

test("a search ends as unknown an hour after it is too late to publish, while its content or its access token cannot be read", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const hourAgo = new Date(Date.now() - 3_500_000);
  const before = new Date(Date.now() - 2 * 3_600_000);
  const young = world.addTarget({ publishBefore: hourAgo });
  const noContent = world.addTarget({ publishBefore: before });
  const noToken = world.addTarget({ publishBefore: before });
  for (const { targetId } of [young, noContent]) world.unreadable.add(targetId);
  world.account(noToken).status = "unreadable";
  await request(sql, young);
  await request(sql, noContent);
  await request(sql, noToken);
  await sql`
    update publish_tasks
    set status = 'unknown', unknown_count = 1, open_unknowns = 1, first_unknown_at = now() - interval '2 hours',
      error_code = 'outcome_unknown', error_message = ''`;
  await using _worker = startWorker(database, world);

  for (const target of [noContent, noToken])
    expect(await untilStatus(sql, target, "failed")).toMatchObject({
      errorCode: "outcome_unknown",
    });
  expect((await readTask(sql, young)).status).not.toBe("failed");
});

test("the backlog of a platform that does not respond does not delay posts on other platforms", async () => {
  await using database = await openDatabase();
  const world = new World();
  const workspaceId = randomUUID();
  await addBacklog(database.sql, world, { platform: "x", workspaceId });
  const other: TestTarget = world.addTarget({
    platform: "bluesky",
    workspaceId,
    dueAt: new Date(),
  });
  await request(database.sql, other);

  const claimed = names(await claim(database.sql));
  expect(claimed).toHaveLength(SHARE + 1);
  expect(claimed).toContain(other.targetId);
  expect(await claimAll(database.sql)).toBe(2 * SHARE);
});

test("the backlog of one workspace does not delay posts of other workspaces on the same platform", async () => {
  await using database = await openDatabase();
  const world = new World();
  await addBacklog(database.sql, world, { platform: "x", workspaceId: randomUUID() });
  const other = world.addTarget({ platform: "x", dueAt: new Date() });
  await request(database.sql, other);

  const more = { maxPerPlatform: 2 * SHARE };
  const claimed = names(await claim(database.sql, more));
  expect(claimed).toHaveLength(SHARE + 1);
  expect(claimed).toContain(other.targetId);
});

test("a workspace that alone waits for a platform may publish more targets at a time, which take no place from a workspace that comes later", async () => {
  await using database = await openDatabase();
  const world = new World();
  await addBacklog(database.sql, world, { platform: "x", workspaceId: randomUUID() });
  const more = { maxPerPlatform: 2 * SHARE };
  expect(await claimAll(database.sql, more)).toBe(6 * SHARE);

  const later = Array.from({ length: 2 * SHARE }, () =>
    world.addTarget({ platform: "x", dueAt: new Date() }),
  );
  await request(database.sql, ...later);
  const laterIds = new Set(later.map(({ targetId }) => targetId));
  const claimed = names(await claim(database.sql, more));
  expect(claimed).toHaveLength(SHARE);
  expect(claimed.every((targetId) => laterIds.has(targetId))).toBe(true);
});

test("all delivery processes together never work on more publish tasks of a platform at a time than the configured maximum", async () => {
  await using database = await openDatabase();
  const world = new World();
  const workspaceId = randomUUID();
  const targets = [1, 2, 3, 4, 5].map(() => world.addTarget({ platform: "x", workspaceId }));
  const others = [1, 2, 3, 4, 5].map(() => world.addTarget({ platform: "x" }));
  const { promise, resolve } = Promise.withResolvers<void>();
  world.reactions = [...targets, ...others].map(() => async (_call, _guard, make) => {
    await promise;
    return make();
  });
  await request(database.sql, ...targets, ...others);
  const settings = { maxPerPlatform: 3 };
  await using _worker = startWorker(database, world, { settings });

  await eventually(() => expect(world.calls).toHaveLength(3));
  const left = await claim(database.sql, { maxPerPlatform: 100 });
  expect(left).toHaveLength(7);
  expect(left.filter((task) => task.workspaceId === workspaceId).length).toBeGreaterThanOrEqual(3);
  resolve();
});

test("publish tasks that are claimed together do not wait for token refreshes of other platforms", async () => {
  await using database = await openDatabase();
  const world = new World();
  const slow = world.addTarget({ platform: "x" });
  const other = world.addTarget({ platform: "bluesky" });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  world.renewing = { accountId: slow.accountId, ended };
  await request(database.sql, slow, other);
  const connectors = { x: world.connector(), bluesky: world.connector("bluesky") };
  await using _worker = startWorker(database, world, { connectors });

  await untilStatus(database.sql, other, "published");
  expect(await readTask(database.sql, slow)).toMatchObject({ status: "working", fence: 1 });
  end();
  await untilStatus(database.sql, slow, "published");
  expect(world.calls).toHaveLength(2);
});

/**
 * Records targets as published and requests their deletion. The id of each post on the platform is
 * the id of its target.
 */
async function requestDeletions(sql: Sql, targets: readonly TestTarget[]): Promise<void> {
  await insertPublished(
    sql,
    targets.map((target) => ({ target, externalId: target.targetId })),
  );
  await consume(
    sql,
    targets.map((target) => toDeletionRecord(target, target.targetId)),
  );
}

/**
 * Creates deletions on the given number of accounts, older than the deletions that the test
 * requests.
 */
async function addDeletions(
  sql: Sql,
  world: World,
  { count, accounts }: { count: number; accounts: number },
): Promise<void> {
  const accountIds = Array.from({ length: accounts }, () => randomUUID());
  const targets = Array.from({ length: count }, (_, index) =>
    world.addTarget({ platform: "x", accountId: accountIds[index % accounts] ?? "" }),
  );
  await requestDeletions(sql, targets);
}

test("5,000 deletions on a platform that does not respond do not delay deletions on other platforms", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const bluesky = new World();
  await addDeletions(sql, world, { count: 5_000, accounts: 100 });
  const others = Array.from({ length: 30 }, () => world.addTarget({ platform: "bluesky" }));
  await requestDeletions(sql, others);
  const hanging = Promise.withResolvers<never>();
  world.deletionReactions = Array.from({ length: 5_000 }, () => () => hanging.promise);
  const connectors = { x: world.connector(), bluesky: bluesky.connector("bluesky") };
  // No lease ends during the test, so no further deletion of the platform that does not respond is
  // claimed.
  const settings = { leaseMs: 600_000 };
  await using worker = startWorker(database, world, { connectors, settings });

  for (const target of others)
    await eventually(async () =>
      expect(await lastDeletion(sql, target)).toMatchObject({ status: "deleted" }),
    );
  expect(world.deletes.length).toBeGreaterThan(0);
  expect(bluesky.deletes).toHaveLength(others.length);
  await worker.crash();
});

test("an account with many deletions does not delay deletions of other accounts on its platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  await addDeletions(sql, world, { count: 3_000, accounts: 1 });
  const other = world.addTarget({ platform: "x" });
  await requestDeletions(sql, [other]);
  await using worker = startWorker(database, world);

  await eventually(async () =>
    expect(await lastDeletion(sql, other)).toMatchObject({ status: "deleted" }),
  );
  // If the deletions ran one after the other, the older deletions of the busy account would have
  // taken much longer.
  expect(world.deletes.length).toBeLessThan(1_000);
  await worker.crash();
});

test("publish tasks that are claimed together do not wait for a token server that another workspace runs itself", async () => {
  await using database = await openDatabase();
  const world = new World();
  const slow = world.addTarget({ platform: "bluesky" });
  const other = world.addTarget({ platform: "bluesky" });
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  world.renewing = { accountId: slow.accountId, ended };
  await request(database.sql, slow, other);
  const bluesky = { ...world.connector("bluesky"), isForeignHost: () => true };
  await using _worker = startWorker(database, world, { connectors: { bluesky } });

  await untilStatus(database.sql, other, "published");
  expect(await readTask(database.sql, slow)).toMatchObject({ status: "working", fence: 1 });
  end();
  await untilStatus(database.sql, slow, "published");
});

test("deletions that are claimed together do not wait for a token server that another workspace runs itself", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const [slow, other] = [world.addTarget(), world.addTarget()];
  const { promise: ended, resolve: end } = Promise.withResolvers<void>();
  world.renewing = { accountId: slow.accountId, ended };
  await requestDeletions(sql, [slow, other]);
  await using _worker = startWorker(database, world);

  await eventually(async () =>
    expect(await lastDeletion(sql, other)).toMatchObject({ status: "deleted" }),
  );
  expect(await lastDeletion(sql, slow)).toBeUndefined();
  end();
  await eventually(async () =>
    expect(await lastDeletion(sql, slow)).toMatchObject({ status: "deleted" }),
  );
});

test("deletions of one workspace that get no answer do not stop those of others on the same platform", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const workspaceId = randomUUID();
  const silent = Array.from({ length: 100 }, () => world.addTarget({ platform: "x", workspaceId }));
  await requestDeletions(sql, silent);
  const other = world.addTarget({ platform: "x" });
  await requestDeletions(sql, [other]);
  const hanging = Promise.withResolvers<never>();
  const silentIds = new Set(silent.map(({ targetId }) => targetId));
  const connector = world.connector();
  const x: typeof connector = {
    ...connector,
    delete: (account, externalId, ...rest) =>
      silentIds.has(externalId) ? hanging.promise : connector.delete(account, externalId, ...rest),
  };
  const settings = { leaseMs: 600_000 };
  await using worker = startWorker(database, world, { connectors: { x }, settings });

  await eventually(async () =>
    expect(await lastDeletion(sql, other)).toMatchObject({ status: "deleted" }),
  );
  await worker.crash();
});
