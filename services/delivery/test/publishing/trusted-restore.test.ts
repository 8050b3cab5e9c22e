import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { adoptDeployment, recordRestore } from "#src/publishing/db/deployment.ts";
import {
  releaseTrustedDoubts,
  startWatchDeployment,
} from "#src/publishing/jobs/watch-deployment.ts";
import { createPublishingGuard } from "#src/publishing/operations/publishing-guard.ts";
import {
  type World,
  createRpcClients,
  DEPLOYMENT,
  lastUpdate,
  listUpdates,
  logger,
  openDatabase,
  readTask,
  request,
  startWorker,
  untilStatus,
  type TestTarget,
  openStage,
} from "./fixture.ts";

const SETTINGS = { visibleCallMs: 250, leaseMs: 1_000 };
/**
 * Settings with which a target whose publishing call has an unknown outcome is not searched for
 * while a test runs.
 */
const LONG_CALLS = { ...SETTINGS, visibleCallMs: 60_000 };

/**
 * Records a restore that moved the data to a new timeline of Postgres, as a switchover to a standby
 * server does.
 */
async function switchOver({ sql }: TestDatabase): Promise<void> {
  await sql`update deployment set timeline = timeline + 1`;
  await recordRestore(sql, DEPLOYMENT, undefined);
}

/**
 * Declares, as an operator does, that no data were lost in the restore that the delivery service
 * shows as the latest one.
 */
async function trustLatest({ sql }: TestDatabase) {
  const { recovery } = createRpcClients(sql);
  const { restoredAt } = (await recovery.getRecovery({})).recovery ?? {};
  return (await recovery.trustRestore(restoredAt === undefined ? {} : { restoredAt })).recovery;
}

async function release({ sql }: TestDatabase): Promise<void> {
  await releaseTrustedDoubts({ sql, onEvents: () => undefined });
}

/**
 * Lets a target fail on a platform that cannot be searched for posts, because after a switchover it
 * is unknown whether the target was already published.
 */
async function failInDoubt(database: TestDatabase, world: World): Promise<TestTarget> {
  const target = world.addTarget();
  await request(database.sql, target);
  await switchOver(database);
  await using _worker = startWorker(database, world, { settings: SETTINGS });
  await untilStatus(database.sql, target, "failed");
  return target;
}

/**
 * Makes the publish task of a target ready now. Otherwise the task waits until the posts service
 * knows that the target is open again, or until its publishing call can no longer arrive.
 */
async function wake({ sql }: TestDatabase, target: TestTarget): Promise<void> {
  await sql`update publish_tasks set wake_at = now() where target_id = ${target.targetId}`;
}

test("a target that failed only because of a switchover of Postgres is published after an operator declares the switchover lossless", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = await failInDoubt(database, world);

  expect(await trustLatest(database)).toMatchObject({ openTargets: 0 });
  const guard = createPublishingGuard({ sql, logger, deploymentId: DEPLOYMENT });
  let events = 0;
  {
    await using _watch = startWatchDeployment({
      guard,
      sql,
      logger,
      onEvents: () => (events += 1),
    });
    await untilStatus(sql, target, "queued");
  }
  const update = await lastUpdate(sql, target);
  expect([update?.status, update?.errorCode]).toEqual(["publishing", undefined]);
  expect(events).toBe(1);
  // Before the publish task is tried again, the posts service must learn that the target is open
  // again, because the delivery service asks it whether the target still has to be published.
  const [row] = await sql<{ waitMs: number }[]>`
    select extract(epoch from wake_at - updated_at)::float8 * 1000 as wait_ms from publish_tasks`;
  expect(row?.waitMs).toBeGreaterThanOrEqual(5_000);

  await wake(database, target);
  await using _worker = startWorker(database, world, { settings: SETTINGS });
  await untilStatus(sql, target, "published");
  expect(world.calls).toHaveLength(1);
  expect(world.looks).toEqual([]);
});

test("after an operator declares a switchover lossless, new targets and those that wait for a search are sent without a search", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const waiting = world.addTarget();
  await request(sql, waiting);
  await switchOver(database);
  await using _worker = startWorker(database, world, {
    settings: { ...SETTINGS, visibleCallMs: 60_000 },
  });
  await untilStatus(sql, waiting, "unknown");

  await trustLatest(database);
  const added = world.addTarget();
  await request(sql, added);
  await release(database);
  await untilStatus(sql, waiting, "published");
  await untilStatus(sql, added, "published");
  expect(world.looks).toEqual([]);
});

test("a target whose publishing call had an unknown outcome before a switchover is not sent when an operator declares the switchover lossless", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  await request(sql, target);
  world.reactions = [() => ({ kind: "unknown", message: "no answer" })];
  {
    await using _worker = startWorker(database, world, { settings: LONG_CALLS });
    await untilStatus(sql, target, "unknown");
  }
  await wake(database, target);
  await switchOver(database);
  await using _worker = startWorker(database, world, { settings: SETTINGS });
  await untilStatus(sql, target, "failed");

  await trustLatest(database);
  await release(database);
  expect(world.looks).toEqual([]);
  await wake(database, target);
  await untilStatus(sql, target, "failed");
  expect(await readTask(sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
  expect(world.looks.length).toBeGreaterThan(0);
  expect(world.calls).toHaveLength(1);
});

test("after an operator declares a switchover lossless, the search for a post with an unknown outcome continues as before the switchover", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  // The platform of these targets can be searched for the post of a call that the database
  // contains, but not for posts of calls that a restore lost.
  const [waiting, failed] = [world.addTarget(), world.addTarget()];
  world.reactions = [1, 2].map(() => () => ({ kind: "unknown", message: "no answer" }));
  {
    await using _worker = startWorker(database, world, { settings: LONG_CALLS });
    await request(sql, waiting, failed);
    await untilStatus(sql, waiting, "unknown");
    await untilStatus(sql, failed, "unknown");
  }
  const readFirst = async () =>
    (await sql`select first_called_at from (
      select target_id, min(called_at) as first_called_at from publish_attempts group by target_id
    ) as a order by target_id`) as readonly object[];
  const called = await readFirst();
  await wake(database, failed);
  await switchOver(database);
  {
    await using _worker = startWorker(database, world, { settings: SETTINGS });
    await untilStatus(sql, failed, "failed");
  }
  await wake(database, waiting);
  {
    await using _worker = startWorker(database, world, { settings: LONG_CALLS });
    await eventually(async () => {
      const rows = await sql`select 1 from publish_tasks where is_restored and status = 'unknown'`;
      expect(rows).toHaveLength(1);
    });
  }
  expect(world.looks).toEqual([]);

  await trustLatest(database);
  await release(database);
  const rows = await sql<{ firstCalledAt: Date }[]>`
    select first_unknown_at as first_called_at
    from publish_tasks
    where status = 'unknown'
    and open_unknowns = 1
    and not is_restored
    order by target_id`;
  expect(rows.map((row) => ({ ...row }))).toEqual(called.map((row) => ({ ...row })));
  await wake(database, waiting);
  await wake(database, failed);
  world.verdicts = [1, 2].map((id) => (call) => {
    expect(call.looks).toBe(0);
    return { kind: "present", externalId: `found-${id}`, permalink: "https://example.test" };
  });
  await using _worker = startWorker(database, world, { settings: SETTINGS });
  await untilStatus(sql, waiting, "published");
  await untilStatus(sql, failed, "published");
  expect(world.calls).toHaveLength(2);
});

test("a target that an earlier restore from a backup made uncertain is still not sent when an operator declares a later switchover lossless", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  await request(sql, target);
  await sql`update deployment set system_identifier = '1'`;
  await adoptDeployment(sql, DEPLOYMENT);
  const [restore] = await sql<{ restoredAt: Date }[]>`select restored_at from deployment`;
  await switchOver(database);
  {
    await using _worker = startWorker(database, world, { settings: SETTINGS });
    await untilStatus(sql, target, "failed");
  }

  const recovery = await trustLatest(database);
  const restoredAt = recovery?.restoredAt;
  expect(restoredAt && timestampDate(restoredAt)).toEqual(restore?.restoredAt);
  expect(recovery?.trustRefusedBecause).toBe("already_trusted");
  await release(database);
  expect((await readTask(sql, target)).status).toBe("queued");
  await wake(database, target);
  await using _worker = startWorker(database, world, { settings: SETTINGS });
  await untilStatus(sql, target, "failed");
  expect(world.calls).toEqual([]);
});

test("when several processes at once release the targets that a restore had stopped before it was declared lossless, each target is released once", async () => {
  await using database = await openStage(8);
  const { sql, world } = database;
  const targets = Array.from({ length: 150 }, () => world.addTarget());
  await request(sql, ...targets);
  await switchOver(database);
  {
    await using _worker = startWorker(database, world, {
      settings: { ...SETTINGS, visibleCallMs: 60_000 },
    });
    await eventually(async () => {
      const rows = await sql`select 1 from publish_tasks where status = 'unknown'`;
      return rows.length === targets.length;
    });
  }
  await trustLatest(database);
  await Promise.all([release(database), release(database), release(database)]);
  const rows = await sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count from publish_tasks group by status`;
  expect(rows.map((row) => ({ ...row }))).toEqual([{ status: "queued", count: 150 }]);
  for (const target of targets) expect(await listUpdates(sql, target)).toHaveLength(1);
});

test("a call that declares a restore lossless can be repeated, but does not apply to another restore", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const { recovery } = createRpcClients(sql);
  await sql`update deployment set system_identifier = '1'`;
  await recovery.adoptData({});
  const { restoredAt: first } = (await recovery.getRecovery({})).recovery ?? {};
  await switchOver(database);
  const { restoredAt: second } = (await recovery.getRecovery({})).recovery ?? {};
  if (first === undefined || second === undefined) throw new Error("no restore was recorded");

  await expect(recovery.trustRestore({ restoredAt: first })).rejects.toThrow("invalid_transition");
  await expect(recovery.trustRestore({})).rejects.toThrow("invalid_request");
  const trusted = await Promise.all([
    recovery.trustRestore({ restoredAt: second }),
    recovery.trustRestore({ restoredAt: second }),
  ]);
  for (const answer of trusted) expect(answer.recovery?.restoredAt).toEqual(first);
  await expect(recovery.trustRestore({ restoredAt: first })).rejects.toThrow("invalid_transition");
});

test("a restore is not declared lossless when a delivery process had read newer data before the restore", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const guard = createPublishingGuard({ sql, logger, deploymentId: DEPLOYMENT });
  await guard.isOwn();
  await sql`update deployment set timeline = 99, seen_at = seen_at - interval '1 second'`;
  await guard.isOwn();

  const { recovery } = createRpcClients(sql);
  expect((await recovery.getRecovery({})).recovery?.trustRefusedBecause).toBe("data_lost");
  await expect(trustLatest(database)).rejects.toThrow("invalid_transition");
  await switchOver(database);
  expect((await recovery.getRecovery({})).recovery?.trustRefusedBecause).toBe("");
});

test.each([
  ["lost commits", "is not declared lossless", "1 second", "data_lost"],
  ["lost nothing", "can be declared lossless", "0", ""],
])(
  "a restore that %s %s when another process read the data before the restore, and a process that started after the restore records the restore",
  async (_what, _result, lost, refusal) => {
    await using database = await openDatabase();
    const { sql } = database;
    const createGuard = () => createPublishingGuard({ sql, logger, deploymentId: DEPLOYMENT });
    const [running, restarted] = [createGuard(), createGuard()];
    await running.isOwn();
    await database.migrationSql.unsafe(`
      create table restored (like deployment including all);
      insert into restored select * from deployment;
      drop table deployment;
      alter table restored rename to deployment;
      update deployment set seen_at = seen_at - interval '${lost}'`);
    await restarted.isOwn();
    await running.isOwn();
    await restarted.isOwn();

    const { recovery } = createRpcClients(sql);
    expect((await recovery.getRecovery({})).recovery?.trustRefusedBecause).toBe(refusal);
    // A later switchover that lost no data can still be declared lossless.
    await switchOver(database);
    await running.isOwn();
    expect((await recovery.getRecovery({})).recovery?.trustRefusedBecause).toBe("");
  },
);

test("a restore is not declared lossless before a delivery process has recorded it, nor while the data belongs to another deployment", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const { recovery } = createRpcClients(sql);
  const refusal = async () => (await recovery.getRecovery({})).recovery?.trustRefusedBecause;
  expect(await refusal()).toBe("not_restored");
  await recovery.markRestored({});
  expect(await refusal()).toBe("");
  await sql`update deployment set timeline = 99`;
  expect(await refusal()).toBe("unnoticed");
  await expect(trustLatest(database)).rejects.toThrow("invalid_transition");
  await sql`update deployment set deployment_id = 'production'`;
  expect(await refusal()).toBe("held");
  await expect(trustLatest(database)).rejects.toThrow("invalid_transition");
});
