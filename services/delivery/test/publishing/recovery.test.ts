import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import { judgeMatchingPosts } from "@postrider/platforms/publishing/search";
import { pngMedia } from "@postrider/platforms/test/test-media";
import { newId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { adoptDeployment, insertDeployment, recordRestore } from "#src/publishing/db/deployment.ts";
import { listHandleKeys } from "#src/publishing/db/handles.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import {
  consume,
  createRpcClients,
  DEPLOYMENT,
  insertPublished,
  lastUpdate,
  listAttempts,
  logger,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  World,
  type TestTarget,
  type TestWorker,
  type WorkerOptions,
  untilStatus,
  openStage,
} from "./fixture.ts";

const SETTINGS = { visibleCallMs: 250, leaseMs: 1_000 };

/** Starts a worker whose platform can be searched for posts. */
function startSearchable(database: TestDatabase, world: World, options: WorkerOptions = {}) {
  const looks: Date[] = [];
  const connector: PublishingConnector = {
    ...world.connector(),
    findMatchingPost: (publication, _handles, call) => {
      looks.push(call.calledAt);
      const twin = world.visible.find(({ text }) => text === publication.text);
      return Promise.resolve(
        twin === undefined
          ? { kind: "absent" }
          : { kind: "present", externalId: twin.id, permalink: null },
      );
    },
  };
  const worker = startWorker(database, world, {
    settings: SETTINGS,
    connectors: { x: connector },
    ...options,
  });
  return {
    looks,
    claims: worker.claims,
    [Symbol.asyncDispose]: () => worker[Symbol.asyncDispose](),
  };
}

/**
 * Changes the row of the table `deployment` to that of an hour-old backup of another cluster,
 * timeline or table.
 */
async function pretendBackup(
  { sql }: TestDatabase,
  changes: Readonly<Record<string, string | number>>,
): Promise<void> {
  await sql`update deployment set ${sql(changes)}, seen_at = now() - interval '1 hour'`;
}

/** Waits for two complete passes of the loop that claims publish tasks. */
async function untilPassed({ claims }: Pick<TestWorker, "claims">): Promise<void> {
  for (let looks = 0; looks < 3; looks += 1) {
    const asked = performance.now();
    claims.nudge();
    await eventually(() => performance.now() - claims.claimAgeMs() > asked);
  }
}

test.each([
  ["cluster", { system_identifier: "1" }],
  ["database", { database_oid: 1 }],
  ["deployment", { deployment_id: "production" }],
])(
  "when the data was copied from another %s, no target is published or deleted until an operator adopts the data",
  async (_name, change) => {
    await using database = await openStage();
    const { sql, world } = database;
    const before = world.addTarget();
    const externalId = world.make(before).externalId ?? "";
    await insertPublished(sql, [{ target: before, externalId }]);
    const target = world.addTarget();
    await pretendBackup(database, change);
    const rpc = createRpcClients(sql);
    {
      await using worker = startSearchable(database, world);
      await request(sql, target);
      await consume(sql, [toDeletionRecord(before, externalId)]);
      await untilPassed(worker);
      const { recovery } = await rpc.recovery.getRecovery({});
      expect(recovery?.heldBecause).toBe(
        Object.keys(change)[0]?.replace(/^(database|deployment)_.*/, "$1"),
      );
    }
    expect((await readTask(sql, target)).fence).toBe(0);
    expect([world.calls, world.deletes]).toEqual([[], []]);

    await using seeing = startSearchable(database, world);
    expect(await rpc.recovery.adoptData({})).toMatchObject({
      adopted: true,
      recovery: { heldBecause: "", openTargets: 1 },
    });
    expect((await rpc.recovery.adoptData({})).adopted).toBe(false);
    await untilStatus(database.sql, target, "published");
    await eventually(() => world.deletes.length === 1);
    expect(seeing.looks).toHaveLength(1);
    expect(world.calls).toHaveLength(1);
  },
);

test.each([
  ["timeline", { timeline: 99 }],
  ["table", { table_oid: 1 }],
])(
  "after a restore into another Postgres %s, a target that is found on the platform counts as published and is not sent again",
  async (_name, change) => {
    await using database = await openDatabase();
    const world = new World();
    const [there, missing] = [world.addTarget(), world.addTarget()];
    const { externalId } = world.make(there);
    await pretendBackup(database, change);
    await request(database.sql, there, missing);

    await using seeing = startSearchable(database, world);

    expect(await untilStatus(database.sql, there, "published")).toMatchObject({ externalId });
    await untilStatus(database.sql, missing, "published");
    expect(world.visible.map(({ text }) => text)).toEqual([there.text, missing.text]);
    expect(world.calls).toMatchObject([{ targetId: missing.targetId }]);
    expect(await listAttempts(database.sql, missing)).toMatchObject([{ outcome: "published" }]);
    // The search of the platform starts at the time of the backup, because later publishing calls
    // are missing from the data.
    expect(seeing.looks[0]?.getTime()).toBeLessThan(Date.now() - 3_500_000);
  },
);

test("after a restore, a target on a platform without search fails with outcome_unknown, and is sent only after an operator resolves it", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await pretendBackup(database, { timeline: 99 });
  await request(database.sql, target);
  await using _worker = startWorker(database, world, { settings: SETTINGS });

  await untilStatus(database.sql, target, "failed");
  expect(await lastUpdate(database.sql, target)).toMatchObject({
    errorCode: "outcome_unknown",
    errorRetryable: false,
  });
  expect([world.calls, world.looks]).toEqual([[], []]);

  const { tasks } = createRpcClients(database.sql);
  await tasks.resolveTarget({ targetId: target.targetId });
  target.generation = 2;
  target.dueAt = new Date();
  await request(database.sql, target);
  await untilStatus(database.sql, target, "published");
  expect(world.calls).toHaveLength(1);
});

/** The statements that docs/operations.md names for an operator who has lost the keys. */
function statementsForLostHandleKeys(): string {
  const file = join(import.meta.dirname, "../../../../docs/operations.md");
  const page = readFileSync(file, "utf8").split("**When `HANDLE_KEYS` are lost**")[1];
  return /<<'SQL'\n([\s\S]+?)\nSQL\n/.exec(page ?? "")?.[1] ?? "";
}

test("after the documented statements for lost HANDLE_KEYS no stored text needs a key, and a target whose upload had begun is searched for before it is sent", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  await request(sql, target);
  world.prepare = [
    {
      name: "upload",
      isDone: () => false,
      run: () => Promise.resolve({ kind: "wait", afterMs: 600_000, handles: { uri: "secret" } }),
    },
  ];
  {
    await using _first = startSearchable(database, world);
    await eventually(async () => (await listHandleKeys(sql)).length === 1);
  }

  const connection = await sql.reserve();
  await connection.unsafe(statementsForLostHandleKeys());
  connection.release();

  expect(await listHandleKeys(sql)).toEqual([]);
  await sql`update publish_tasks set wake_at = now()`;
  world.prepare = [];
  await using seeing = startSearchable(database, world);
  await untilStatus(sql, target, "published");
  expect(seeing.looks).toHaveLength(1);
  expect(world.calls).toMatchObject([{ handles: {} }]);
});

/** Moves the recorded time of the latest restore from a backup into the past by `age`. */
async function ageRestore({ sql }: TestDatabase, age: string): Promise<void> {
  await sql`
    update deployment
    set restored_at = restored_at - ${age}::interval,
      undo_for = undo_for - ${age}::interval`;
}

test("a target that becomes due 15 minutes or more after a restore from a backup is sent without a search of the platform", async () => {
  await using database = await openDatabase();
  const world = new World();
  await adoptElsewhere(database);
  await ageRestore(database, "15 minutes");
  const target = world.addTarget({ dueAt: new Date(Date.now() + 50) });
  await request(database.sql, target);
  await using seeing = startSearchable(database, world);
  await untilStatus(database.sql, target, "published");
  expect(seeing.looks).toEqual([]);
});

const DAY_MS = 24 * 3_600_000;

/**
 * Restores an hour-old backup with a target that was first due 90 days ago. Returns how far back a
 * search for it begins.
 */
async function searchForOldTarget(change: (sql: Sql) => Promise<unknown>): Promise<number> {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget({ dueAt: new Date(Date.now() - 90 * DAY_MS) });
  await request(sql, target);
  await adoptElsewhere(database);
  await change(sql);
  await using seeing = startSearchable(database, world);
  await untilStatus(sql, target, "published");
  return Date.now() - (seeing.looks[0]?.getTime() ?? 0);
}

test("after a restore, the search for a target due long before the backup without a stored publishing call starts at the time of the backup", async () => {
  const backMs = await searchForOldTarget(async () => undefined);
  expect(backMs).toBeGreaterThan(3_500_000);
  expect(backMs).toBeLessThan(DAY_MS);
});

test.each<[string, (sql: Sql) => Promise<unknown>]>([
  [
    "has a publishing call with an unknown outcome in the restored data",
    (sql) => sql`
      update publish_tasks
      set status = 'unknown', open_unknowns = 1, first_unknown_at = now() - interval '60 days'`,
  ],
  [
    "was prepared before the backup",
    (sql) => sql`
      update publish_tasks
      set handles = '{}'`,
  ],
  [
    "was made uncertain by an earlier restore and has not been searched for since",
    (sql) => sql`update deployment set undo_restored_at = now() - interval '30 days'`,
  ],
])(
  "after a restore from a backup, the search for a target that %s starts when the target was first due",
  async (_what, change) => {
    expect(await searchForOldTarget(change)).toBeGreaterThan(89 * DAY_MS);
  },
);

test("a client's repetition of a publish request that a restore lost does not publish the content again", async () => {
  await using database = await openDatabase();
  const world = new World();
  const lost = world.addTarget();
  const { externalId } = world.make(lost);
  await adoptElsewhere(database);
  const repeated = world.addTarget({ text: lost.text, dueAt: new Date() });
  await request(database.sql, repeated);
  await using seeing = startSearchable(database, world);

  expect(await untilStatus(database.sql, repeated, "published")).toMatchObject({ externalId });
  expect(world.calls).toEqual([]);
  // The search of the platform starts at the time of the backup, although the repeated publish
  // request is newer.
  expect(seeing.looks[0]?.getTime()).toBeLessThan(Date.now() - 3_500_000);
});

test("after a restore from a backup of unknown age, the platform is searched over the last day for the post of a repeated publish request", async () => {
  await using database = await openDatabase();
  const world = new World();
  await createRpcClients(database.sql).recovery.markRestored({});
  const repeated = world.addTarget({ dueAt: new Date(Date.now() + 10) });
  await request(database.sql, repeated);
  await using seeing = startSearchable(database, world);
  await untilStatus(database.sql, repeated, "published");
  expect(seeing.looks[0]?.getTime()).toBeLessThan(Date.now() - 23 * 3_600_000);
});

/**
 * Lets the first publish request of a target fail before the backup, because the platform refuses
 * to publish it.
 */
async function failBeforeBackup(database: TestDatabase, world: World) {
  const target = world.addTarget({ dueAt: new Date(Date.now() - 2 * 3_600_000) });
  world.reactions = [() => ({ kind: "refused", code: "permission_missing", message: "refused" })];
  await request(database.sql, target);
  {
    await using _worker = startSearchable(database, world);
    await untilStatus(database.sql, target, "failed");
  }
  world.calls.length = 0;
  return target;
}

function retry(target: TestTarget): void {
  target.generation += 1;
  target.dueAt = new Date();
}

test("a retry long after a restore from a backup does not publish again what an earlier retry, which the restored data lacks, has published", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = await failBeforeBackup(database, world);
  const { externalId } = world.make(target);
  await adoptElsewhere(database);
  await ageRestore(database, "1 hour");

  retry(target);
  await request(database.sql, target);
  await using _worker = startSearchable(database, world);
  expect(await untilStatus(database.sql, target, "published")).toMatchObject({ externalId });
  expect(world.calls).toEqual([]);
});

test("after a restore, a retry is sent without a search if the platform was already searched for an earlier publish request of the target", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await request(database.sql, target);
  await adoptElsewhere(database);
  world.reactions = [() => ({ kind: "refused", code: "permission_missing", message: "refused" })];
  await using seeing = startSearchable(database, world);
  await untilStatus(database.sql, target, "failed");
  retry(target);
  await request(database.sql, target);
  await untilStatus(database.sql, target, "published");
  expect(seeing.looks).toHaveLength(1);
});

test("a target that an operator resolves as absent after a restore from a backup is sent by the next retry on a platform that cannot be searched", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  world.reactions = [() => ({ kind: "unknown", message: "no answer" })];
  world.verdicts = [() => ({ kind: "cannot_tell", message: "the platform cannot tell" })];
  await request(database.sql, target);
  await using _worker = startWorker(database, world, { settings: SETTINGS });
  await untilStatus(database.sql, target, "failed");
  const { recovery, tasks } = createRpcClients(database.sql);
  await recovery.markRestored({});
  await tasks.resolveTarget({ targetId: target.targetId });
  retry(target);
  await request(database.sql, target);
  await untilStatus(database.sql, target, "published");
});

async function adoptElsewhere(database: TestDatabase): Promise<void> {
  await pretendBackup(database, { system_identifier: "1" });
  expect(await adoptDeployment(database.sql, DEPLOYMENT)).toBe(true);
}

test("after a restore from a backup, the platform is searched only when a publishing call that was open at the restore has ended", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await request(database.sql, target);
  await adoptElsewhere(database);
  await using _seeing = startSearchable(database, world, {
    settings: { ...SETTINGS, visibleCallMs: 900 },
  });
  const [row] = await eventually(async () => {
    const rows = await database.sql<{ waitMs: number; status: string }[]>`
      select extract(epoch from t.wake_at - d.restored_at)::float8 * 1000 as wait_ms, t.status
      from publish_tasks t
      cross join deployment d
      where t.is_restored`;
    return rows.length === 1 && rows;
  });
  expect(row?.waitMs).toBeGreaterThanOrEqual(900);
  await untilStatus(database.sql, target, "published");
});

test("a worker does not begin a publishing call after an operator marks the data as restored from a backup", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  world.make(target);
  const { recovery } = createRpcClients(database.sql);
  let runs = 0;
  world.prepare = [
    {
      name: "mark a restore",
      isDone: () => runs > 0,
      run: async () => {
        runs += 1;
        await recovery.markRestored({});
        return {};
      },
    },
  ];
  await request(database.sql, target);
  await using _seeing = startSearchable(database, world);

  await untilStatus(database.sql, target, "published");
  expect(world.calls).toEqual([]);
});

test("several workers that notice a restore from a backup record one restore and search the platform for every target once", async () => {
  await using database = await openDatabase(8);
  const world = new World();
  const targets = Array.from({ length: 30 }, () => world.addTarget());
  for (const target of targets.slice(0, 15)) world.make(target);
  await pretendBackup(database, { timeline: 99 });
  await request(database.sql, ...targets);
  await using one = startSearchable(database, world);
  await using two = startSearchable(database, world);
  await using three = startSearchable(database, world);

  for (const target of targets) await untilStatus(database.sql, target, "published");
  expect(world.visible).toHaveLength(30);
  expect(world.calls).toHaveLength(15);
  expect(one.looks.length + two.looks.length + three.looks.length).toBe(30);
});

test("after a restore from a backup, a target is published once when its worker dies between the search of the platform and the publishing call", async () => {
  await using database = await openDatabase();
  const world = new World();
  const [there, missing] = [world.addTarget(), world.addTarget()];
  world.make(there);
  await pretendBackup(database, { timeline: 99 });
  await request(database.sql, there, missing);
  const dying = startWorker(database, world, {
    settings: SETTINGS,
    connectors: {
      x: {
        ...world.connector(),
        findMatchingPost: async () => {
          await dying.crash();
          return { kind: "absent" };
        },
      },
    },
  });
  await eventually(async () => {
    const rows = await database.sql`select 1 from publish_tasks where status = 'reconciling'`;
    return rows.length > 0;
  });
  await using _seeing = startSearchable(database, world);
  await untilStatus(database.sql, there, "published");
  await untilStatus(database.sql, missing, "published");
  expect(world.visible).toHaveLength(2);
});

test("after a restore, neither of two targets with equal text but different media is sent if one matching post is on the platform", async () => {
  await using database = await openDatabase();
  const world = new World();
  const common = { accountId: newId(), text: "the same text" };
  const there = world.addTarget({ ...common, media: [pngMedia(1)] });
  const missing = world.addTarget({ ...common, media: [pngMedia(2)] });
  world.make(there);
  await pretendBackup(database, { timeline: 99 });
  await request(database.sql, there, missing);
  await using _worker = startWorker(database, world, {
    settings: SETTINGS,
    connectors: {
      x: {
        ...world.connector(),
        findMatchingPost: (publication, _handles, call) => {
          const posts = world.visible.map(({ id }) => ({ id, permalink: null }));
          return judgeMatchingPosts(posts, publication, call, []);
        },
      },
    },
  });
  const statuses = await eventually(async () => {
    const tasks = await Promise.all([there, missing].map((each) => readTask(database.sql, each)));
    const found = tasks.map((task) => task?.status ?? "").toSorted();
    return found.every((status) => status === "failed" || status === "published") && found;
  });
  expect(statuses).toEqual(["failed", "published"]);
  expect(world.calls).toEqual([]);
  expect(world.visible).toHaveLength(1);
});

test("a running delivery process notices that its database was replaced by an older copy", async () => {
  await using database = await openDatabase();
  const guard = createPublishingGuard({ sql: database.sql, logger, deploymentId: DEPLOYMENT });
  expect(await guard.isOwn()).toBe(true);
  await database.sql`update deployment set seen_at = now() - interval '1 hour'`;

  expect([await guard.isOwn(), await guard.isOwn()]).toEqual([false, true]);
  const [row] = await database.sql<{ isMarked: boolean; untilMs: number }[]>`
    select restored_at is not null as is_marked,
      extract(epoch from now() - data_until)::float8 * 1000 as until_ms
    from deployment`;
  expect(row?.isMarked).toBe(true);
  expect(row?.untilMs).toBeGreaterThan(3_500_000);
});

test("several restores from backups within a day count as one restore, and platforms are searched for posts since the time of the oldest backup", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await adoptElsewhere(database);
  await sql`update deployment set timeline = 99`;
  await recordRestore(sql, DEPLOYMENT, undefined);
  const [row] = await sql<{ untilMs: number }[]>`
    select extract(epoch from now() - data_until)::float8 * 1000 as until_ms from deployment`;
  expect(row?.untilMs).toBeGreaterThan(3_500_000);
});

test("the first delivery process records which deployment its database belongs to, and a process of another deployment publishes nothing", async () => {
  await using database = await openDatabase();
  await insertDeployment(database.sql, "another");
  const guard = createPublishingGuard({ sql: database.sql, logger, deploymentId: "another" });
  expect(await guard.isOwn()).toBe(false);
});
