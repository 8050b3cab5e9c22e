import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { adoptDeployment, insertDeployment, recordRestore } from "#src/publishing/db/deployment.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import {
  consume,
  createRpcClients,
  DEPLOYMENT,
  lastUpdate,
  listAttempts,
  logger,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  World,
  type TestWorker,
  type WorkerOptions,
} from "./fixture.ts";

const SETTINGS = { visibleCallMs: 250, leaseMs: 1_000 };

/** A worker on a platform that lists what is on it. */
function startSeeing(database: TestDatabase, world: World, options: WorkerOptions = {}) {
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

/** The row as a backup from another cluster, timeline … has it, made an hour ago. */
async function pretend(
  { sql }: TestDatabase,
  changes: Readonly<Record<string, string | number>>,
): Promise<void> {
  await sql`update deployment set ${sql(changes)}, seen_at = now() - interval '1 hour'`;
}

async function whenPassed(
  { sql }: TestDatabase,
  target: Parameters<typeof readTask>[1],
  status: string,
) {
  return await eventually(async () => {
    const task = await readTask(sql, target);
    expect(task.status).toBe(status);
    return task;
  });
}

/** Two whole looks for work have come and gone. */
async function whenLooked({ claims }: Pick<TestWorker, "claims">): Promise<void> {
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
  "a copy from another %s publishes and deletes nothing until it is adopted",
  async (_name, change) => {
    await using database = await openDatabase();
    const world = new World();
    const { sql } = database;
    const published = world.make({ targetId: "before", text: "before" });
    const target = world.addTarget();
    await pretend(database, change);
    const rpc = createRpcClients(sql);
    {
      await using worker = startSeeing(database, world);
      await request(sql, target);
      await consume(sql, [toDeletionRecord(world.addTarget(), published.externalId ?? "")]);
      await whenLooked(worker);
      const { recovery } = await rpc.recovery.getRecovery({});
      expect(recovery?.heldBecause).toBe(
        Object.keys(change)[0]?.replace(/^(database|deployment)_.*/, "$1"),
      );
    }
    expect((await readTask(sql, target)).fence).toBe(0);
    expect([world.calls, world.deletes]).toEqual([[], []]);

    await using seeing = startSeeing(database, world);
    expect(await rpc.recovery.adoptData({})).toMatchObject({
      adopted: true,
      recovery: { heldBecause: "", openTargets: 1 },
    });
    expect((await rpc.recovery.adoptData({})).adopted).toBe(false);
    await whenPassed(database, target, "published");
    await eventually(() => world.deletes.length === 1);
    expect(seeing.looks).toHaveLength(1);
    expect(world.calls).toHaveLength(1);
  },
);

test.each([
  ["timeline", { timeline: 99 }],
  ["table", { table_oid: 1 }],
])(
  "after a restore that made another %s, what is on the platform already is adopted and not sent",
  async (_name, change) => {
    await using database = await openDatabase();
    const world = new World();
    const [there, missing] = [world.addTarget(), world.addTarget()];
    const { externalId } = world.make(there);
    await pretend(database, change);
    await request(database.sql, there, missing);

    await using seeing = startSeeing(database, world);

    expect(await whenPassed(database, there, "published")).toMatchObject({ externalId });
    await whenPassed(database, missing, "published");
    expect(world.visible.map(({ text }) => text)).toEqual([there.text, missing.text]);
    expect(world.calls).toMatchObject([{ targetId: missing.targetId }]);
    expect(await listAttempts(database.sql, missing)).toMatchObject([{ outcome: "published" }]);
    // Calls that the backup does not know of came after it, however late the target was due.
    expect(seeing.looks[0]?.getTime()).toBeLessThan(Date.now() - 3_500_000);
  },
);

test("where nobody can tell, a restored target ends as outcome_unknown and is not sent before a person says so", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await pretend(database, { timeline: 99 });
  await request(database.sql, target);
  await using _worker = startWorker(database, world, { settings: SETTINGS });

  await whenPassed(database, target, "failed");
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
  await whenPassed(database, target, "published");
  expect(world.calls).toHaveLength(1);
});

test("what is due after the restore is sent without a look", async () => {
  await using database = await openDatabase();
  const world = new World();
  await adoptElsewhere(database);
  const target = world.addTarget({ dueAt: new Date(Date.now() + 50) });
  await request(database.sql, target);
  await using seeing = startSeeing(database, world);
  await whenPassed(database, target, "published");
  expect(seeing.looks).toEqual([]);
});

async function adoptElsewhere(database: TestDatabase): Promise<void> {
  await pretend(database, { system_identifier: "1" });
  expect(await adoptDeployment(database.sql, DEPLOYMENT)).toBe(true);
}

test("a look comes only when a call that was in the air at the restore has ended", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  await request(database.sql, target);
  await adoptElsewhere(database);
  await using _seeing = startSeeing(database, world, {
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
  await whenPassed(database, target, "published");
});

test("a mark reaches a target that a worker holds already: its call does not begin", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  world.make(target);
  const { recovery } = createRpcClients(database.sql);
  let runs = 0;
  world.prepare = [
    {
      name: "marked meanwhile",
      isDone: () => runs > 0,
      run: async () => {
        runs += 1;
        await recovery.markRestored({});
        return {};
      },
    },
  ];
  await request(database.sql, target);
  await using _seeing = startSeeing(database, world);

  await whenPassed(database, target, "published");
  expect(world.calls).toEqual([]);
});

test("of workers that all notice a restore, one writes it, and every target is looked for once", async () => {
  await using database = await openDatabase(8);
  const world = new World();
  const targets = Array.from({ length: 30 }, () => world.addTarget());
  for (const target of targets.slice(0, 15)) world.make(target);
  await pretend(database, { timeline: 99 });
  await request(database.sql, ...targets);
  await using one = startSeeing(database, world);
  await using two = startSeeing(database, world);
  await using three = startSeeing(database, world);

  for (const target of targets) await whenPassed(database, target, "published");
  expect(world.visible).toHaveLength(30);
  expect(world.calls).toHaveLength(15);
  expect(one.looks.length + two.looks.length + three.looks.length).toBe(30);
});

test("a worker that dies between the look and the call doubles nothing", async () => {
  await using database = await openDatabase();
  const world = new World();
  const [there, missing] = [world.addTarget(), world.addTarget()];
  world.make(there);
  await pretend(database, { timeline: 99 });
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
  await using _seeing = startSeeing(database, world);
  await whenPassed(database, there, "published");
  await whenPassed(database, missing, "published");
  expect(world.visible).toHaveLength(2);
});

test("data that goes back under a running process is noticed by what the process has seen", async () => {
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

test("restores of one day count as one: the oldest backup says how far back a look goes", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  await adoptElsewhere(database);
  await sql`update deployment set timeline = 99`;
  await recordRestore(sql, DEPLOYMENT, undefined);
  const [row] = await sql<{ untilMs: number }[]>`
    select extract(epoch from now() - data_until)::float8 * 1000 as until_ms from deployment`;
  expect(row?.untilMs).toBeGreaterThan(3_500_000);
});

test("the first process says where the data belongs, and one with another name is held", async () => {
  await using database = await openDatabase();
  await insertDeployment(database.sql, "another");
  const guard = createPublishingGuard({ sql: database.sql, logger, deploymentId: "another" });
  expect(await guard.isOwn()).toBe(false);
});
