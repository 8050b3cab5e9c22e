import type { PrepareStep } from "@postrider/platforms/publishing/steps";
import { newId } from "@postrider/shared/ids";
import { openSql, type Sql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, inject, test } from "vitest";
import { endFormerLeases } from "#src/calls/table.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import { createEventRecorder } from "#src/publishing/jobs/claim-tasks/event-recorder.ts";
import {
  after,
  lastUpdate,
  listAttempts,
  openDatabase,
  publishingDeps,
  readTask,
  STILL_CLOCKS,
  request,
  startWorker,
  World,
  untilStatus,
  openStage,
} from "./fixture.ts";

const never = new Promise<never>(() => undefined);
const SHORT = { leaseMs: 200, visibleCallMs: 600 };

/** A step that never returns, as if its worker had crashed. */
function stuckStep(onRun: () => void): PrepareStep {
  return {
    name: "stuck",
    isDone: () => false,
    run: () => {
      onRun();
      return never;
    },
  };
}

/**
 * Refuses all new connections to the database, and closes those of the workers, until `during` has
 * ended.
 */
async function interruptDatabase(
  database: TestDatabase,
  during: () => Promise<void>,
): Promise<void> {
  const [{ name } = { name: "" }] = await database.ownerSql<{ name: string }[]>`
    select current_database() as name`;
  const cluster = openSql({ url: inject("postgresUrl"), poolSize: 1, applicationName: "test" });
  await cluster.unsafe(`alter database ${name} with allow_connections false`);
  await cluster`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = ${name}
    and application_name = 'test-worker'`;
  await during();
  await cluster.unsafe(`alter database ${name} with allow_connections true`);
  await cluster.end({ timeout: 1 });
}

test("a publish task whose worker dies in a step before the publishing call is claimed by another worker when the lease ends", async () => {
  await using database = await openDatabase();
  const world = new World();
  let runs = 0;
  world.prepare = [stuckStep(() => (runs += 1))];
  const target = world.addTarget();
  const dying = startWorker(database, world, { settings: SHORT });
  await request(database.sql, target);
  await eventually(() => runs === 1);
  await dying.crash();

  world.prepare = [];
  await using _next = startWorker(database, world, { settings: SHORT });

  await untilStatus(database.sql, target, "published");
  expect(await readTask(database.sql, target)).toMatchObject({ fence: 2, crashCount: 0 });
  // The new worker continues the same attempt, because the attempt has no outcome yet.
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "published" },
  ]);
});

test("the lease of a publish task is renewed while a step before the publishing call runs", async () => {
  await using database = await openDatabase();
  const world = new World();
  const gate = Promise.withResolvers<void>();
  world.prepare = [
    {
      name: "slow",
      isDone: () => false,
      run: async () => {
        await gate.promise;
        return {};
      },
    },
  ];
  const target = world.addTarget();
  await using _slow = startWorker(database, world, { settings: SHORT });
  await request(database.sql, target);
  const first = await eventually(async () => {
    const rows = await database.sql<{ wakeAt: Date }[]>`
      select wake_at
      from publish_tasks
      where status = 'working'`;
    return rows[0] ?? false;
  });
  await using _other = startWorker(database, world, { settings: SHORT });

  await eventually(async () => {
    const [row] = await database.sql<{ wakeAt: Date }[]>`select wake_at from publish_tasks`;
    return (row?.wakeAt.getTime() ?? 0) > first.wakeAt.getTime() + 2 * SHORT.leaseMs;
  });
  gate.resolve();

  await untilStatus(database.sql, target, "published");
  expect(await readTask(database.sql, target)).toMatchObject({ fence: 1, crashCount: 0 });
});

test("a publish task whose worker crashed five times is given up, and the targets of the other tasks are published", async () => {
  await using database = await openDatabase();
  const world = new World();
  let runs = 0;
  const crashing = world.addTarget();
  const step = stuckStep(() => (runs += 1));
  world.prepare = [
    {
      ...step,
      isDone: () => false,
      run: (publication, ...rest) =>
        publication.targetId === crashing.targetId
          ? step.run(publication, ...rest)
          : Promise.resolve({}),
    },
  ];
  await request(database.sql, crashing);
  for (let crash = 1; crash <= 5; crash += 1) {
    const dying = startWorker(database, world, { settings: SHORT });
    await eventually(() => runs === crash);
    await dying.crash();
  }
  const innocent = world.addTarget();
  await request(database.sql, innocent);
  await using _next = startWorker(database, world, { settings: SHORT });

  await untilStatus(database.sql, crashing, "failed");

  expect(await lastUpdate(database.sql, crashing)).toMatchObject({
    errorCode: "internal_error",
    errorRetryable: true,
  });
  expect(runs).toBe(5);
  await untilStatus(database.sql, innocent, "published");
});

test("after a worker died in a publishing call, the next one searches the platform only after the call's deadline, call_until", async () => {
  await using database = await openDatabase();
  const world = new World();
  world.reactions = [
    (_call, _guard, make) => {
      make();
      return never;
    },
  ];
  world.verdicts = [
    () => ({ kind: "present", externalId: "id-1", permalink: "https://example.test/id-1" }),
  ];
  const target = world.addTarget();
  const dying = startWorker(database, world, { settings: SHORT });
  await request(database.sql, target);
  await eventually(() => world.calls.length === 1);
  await dying.crash();

  await using _next = startWorker(database, world, { settings: SHORT });

  await untilStatus(database.sql, target, "published");
  const [look] = world.looks;
  expect(look?.now.getTime()).toBeGreaterThanOrEqual(look?.callUntil.getTime() ?? Infinity);
  expect(world.visible).toHaveLength(1);
  expect(world.calls).toHaveLength(1);
  expect(await readTask(database.sql, target)).toMatchObject({ externalId: "id-1" });
});

test.each(["monotonic", "wall"] as const)(
  "a publishing call is not sent when the %s clock shows that its process was delayed between recording and sending the call",
  async (held) => {
    await using database = await openDatabase();
    const world = new World();
    let skewMs = 0;
    let reads = 0;
    const clocks = {
      ...STILL_CLOCKS,
      [held]: () => {
        reads += 1;
        // The process first reads its clocks, then records that the publishing call begins, and is
        // suspended for a minute between these two steps.
        if (reads === 2) skewMs = 60_000;
        return STILL_CLOCKS[held]() + skewMs;
      },
    };
    const target = world.addTarget();
    // With `holdAfterUnknowns: 0`, calls to a platform that does not answer are not limited. The
    // code of this limit would read the clocks, too, before a publishing call is marked as begun.
    const settings = { holdAfterUnknowns: 0 };
    await using _worker = startWorker(database, world, { clocks, settings });

    await request(database.sql, target);

    await untilStatus(database.sql, target, "published");
    expect(world.visible).toHaveLength(1);
    expect(await readTask(database.sql, target)).toMatchObject({ callNumber: 2 });
    expect(await listAttempts(database.sql, target)).toMatchObject([{ outcome: "published" }]);
  },
);

test("the outcome of a publishing call that arrives while the database is unavailable is recorded later", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = world.addTarget();
  const answer = Promise.withResolvers<void>();
  world.reactions = [after(answer.promise)];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 5_000 } });
  await request(database.sql, target);
  await eventually(() => world.calls.length === 1);

  await interruptDatabase(database, async () => {
    answer.resolve();
    await eventually(() => world.visible.length === 1);
    expect((await readTask(database.sql, target)).status).toBe("calling");
  });

  await untilStatus(database.sql, target, "published");
  expect(world.calls).toHaveLength(1);
});

test("an outage of the database that outlasts the leases does not count as a crash of the processes", async () => {
  await using database = await openDatabase();
  const world = new World();
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  world.prepare = [
    {
      name: "slow",
      isDone: () => false,
      run: async () => {
        runs += 1;
        await gate.promise;
        return {};
      },
    },
  ];
  const target = world.addTarget();
  await using _holder = startWorker(database, world, { settings: { ...SHORT, leaseMs: 1_000 } });
  await request(database.sql, target);
  await eventually(() => runs === 1);
  await using _other = startWorker(database, world, { settings: { ...SHORT, leaseMs: 1_000 } });

  await interruptDatabase(database, async () => {
    await eventually(async () => {
      const [row] = await database.ownerSql<{ isOver: boolean }[]>`
        select now() > wake_at as is_over
        from delivery.publish_tasks`;
      return row?.isOver === true;
    });
  });
  await eventually(async () => {
    const [row] = await database.sql<{ isHeld: boolean }[]>`
      select wake_at > now() as is_held
      from publish_tasks`;
    return row?.isHeld === true;
  });
  gate.resolve();

  await untilStatus(database.sql, target, "published");
  expect(runs).toBe(1);
  expect(await readTask(database.sql, target)).toMatchObject({ fence: 1 });
});

test("a stopping process waits for its open publishing call, records the outcome and releases its other tasks", async () => {
  await using database = await openDatabase();
  const world = new World();
  const answer = Promise.withResolvers<void>();
  const called = world.addTarget();
  const waiting = world.addTarget({ text: "in a step" });
  world.prepare = [
    {
      name: "step",
      isDone: () => false,
      run: async (publication, _handles, signal) => {
        if (publication.text !== "in a step") return {};
        const { promise, resolve } = Promise.withResolvers<void>();
        signal.addEventListener("abort", () => resolve());
        await promise;
        return {};
      },
    },
  ];
  world.reactions = [after(answer.promise)];
  const worker = startWorker(database, world, { settings: { visibleCallMs: 5_000 } });
  await request(database.sql, called, waiting);
  await untilStatus(database.sql, called, "calling");
  await untilStatus(database.sql, waiting, "working");

  const stopped = worker[Symbol.asyncDispose]();
  await untilStatus(database.sql, waiting, "queued");
  answer.resolve();
  await stopped;

  expect(await readTask(database.sql, called)).toMatchObject({ status: "published" });
  expect(await readTask(database.sql, waiting)).toMatchObject({ status: "queued", crashCount: 0 });
  expect(world.calls).toHaveLength(1);
});

test("when the database refuses to record a target as published, the attempt stores the success, and the next worker records the target", async () => {
  await using database = await openDatabase();
  const world = new World();
  world.reactions = [() => never];
  const target = world.addTarget();
  const dying = startWorker(database, world, { settings: SHORT });
  await request(database.sql, target);
  await eventually(() => world.calls.length === 1);
  await dying.crash();
  // The database constraint makes every decision fail, as a fault in our code would.
  await database.migrationSql`alter table publish_tasks add constraint fault check (status <> 'published')`;
  const sql = openSql({ url: database.url, poolSize: 2, applicationName: "test-faulty" });
  const recorder = createEventRecorder(publishingDeps(world, sql));
  void recorder.record({
    targetId: target.targetId,
    generation: 1,
    attemptNumber: 1,
    kind: "called",
    callNumber: 1,
    outcome: { kind: "published", externalId: "kept", permalink: null },
  });

  await eventually(
    async () => (await listAttempts(database.sql, target))[0]?.externalId === "kept",
  );
  await sql.end({ timeout: 0 });
  await database.migrationSql`alter table publish_tasks drop constraint fault`;
  await using _next = startWorker(database, world, { settings: SHORT });

  await untilStatus(database.sql, target, "published");
  expect(await readTask(database.sql, target)).toMatchObject({ externalId: "kept" });
  expect(world.calls).toHaveLength(1);
});

test("a publish task whose worker crashed once is published while the publishing call of another task is still open", async () => {
  await using database = await openDatabase();
  const world = new World();
  const answer = Promise.withResolvers<void>();
  const [slow, crashed] = [world.addTarget(), world.addTarget()];
  world.reactions = [after(answer.promise)];
  await database.sql`insert into pauses (kind, key) values ('account', ${crashed.accountId})`;
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 10_000 } });
  await request(database.sql, slow, crashed);
  await eventually(() => world.calls.length === 1);
  await database.sql`
    update publish_tasks
    set crash_count = 1
    where target_id = ${crashed.targetId}`;

  await database.sql`delete from pauses`;
  await untilStatus(database.sql, crashed, "published");
  answer.resolve();

  await untilStatus(database.sql, slow, "published");
  expect(await readTask(database.sql, crashed)).toMatchObject({ crashCount: 0 });
});

test("a process works on only one task at a time whose workers crashed three times, and on all other tasks beside it", async () => {
  await using database = await openDatabase();
  const world = new World();
  const answer = Promise.withResolvers<void>();
  const suspects = [world.addTarget(), world.addTarget(), world.addTarget()];
  await request(database.sql, ...suspects);
  await database.sql`update publish_tasks set crash_count = 3`;
  world.reactions = [after(answer.promise)];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 10_000 } });
  await eventually(() => world.calls.length === 1);

  for (let index = 0; index < 3; index += 1) {
    const other = world.addTarget();
    await request(database.sql, other);
    await untilStatus(database.sql, other, "published");
  }
  const [row] = await database.sql<{ count: number }[]>`
    select count(*)::int as count
    from publish_tasks
    where crash_count = 3
    and fence = 0`;
  expect(row).toEqual({ count: 2 });
  answer.resolve();
  for (const suspect of suspects) await untilStatus(database.sql, suspect, "published");
});

test("a publish task whose worker crashed, and whose account an operator paused, does not delay other tasks", async () => {
  await using database = await openDatabase();
  const world = new World();
  const held = world.addTarget();
  await request(database.sql, held);
  await database.sql`update publish_tasks set crash_count = 1`;
  await database.sql`insert into pauses (kind, key) values ('account', ${held.accountId})`;
  const slow = world.addTarget();
  const answer = Promise.withResolvers<void>();
  world.reactions = [after(answer.promise)];
  await using _worker = startWorker(database, world, { settings: { visibleCallMs: 10_000 } });
  await request(database.sql, slow);
  await eventually(() => world.calls.length === 1);

  for (let index = 0; index < 5; index += 1) {
    const other = world.addTarget();
    await request(database.sql, other);
    await untilStatus(database.sql, other, "published");
  }
  answer.resolve();
  await untilStatus(database.sql, slow, "published");
  expect((await readTask(database.sql, held)).status).toBe("queued");
});

test("a process claims the tasks of the killed process that it replaces at once, but no open publishing calls and no tasks of other processes", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const [own, other, calling] = [newId(), newId(), newId()];
  const former = newId();
  const add = async (targetId: string, owner: string, status: string): Promise<void> => {
    const world = new World();
    const target = world.addTarget({ targetId });
    await request(sql, target);
    await sql`
      update publish_tasks
      set status = ${status},
        wake_at = now() + interval '1 hour',
        call_until = now() + interval '1 hour',
        lease_owner = ${owner}
      where target_id = ${targetId}`;
  };
  await add(own, former, "working");
  await add(other, newId(), "working");
  await add(calling, former, "calling");

  expect(await endFormerLeases(sql, TASK_TABLE, former)).toBe(1);

  const due = await sql<{ targetId: string }[]>`
    select target_id
    from publish_tasks
    where wake_at <= now()`;
  expect(due).toEqual([{ targetId: own }]);
});

test("a worker takes over the tasks of a dead worker although one of its claims fails every half second", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const stuck = Promise.withResolvers<void>();
  let runs = 0;
  world.prepare = [
    {
      name: "slow",
      isDone: () => false,
      run: async () => {
        runs += 1;
        if (runs === 1) await stuck.promise;
        return {};
      },
    },
  ];
  const target = world.addTarget();
  const settings = { leaseMs: 1_500 };
  const dying = startWorker(database, world, { settings });
  await request(sql, target);
  await eventually(() => runs === 1);
  await dying.crash();
  let failedAt = Number.NEGATIVE_INFINITY;
  const failOften = (pool: Sql): Sql =>
    new Proxy(pool, {
      get: (of, name) => {
        const value: unknown = Reflect.get(of, name);
        if (name !== "begin") return value;
        return (...given: Parameters<Sql["begin"]>) => {
          const isFailing = performance.now() - failedAt > 400;
          if (isFailing) failedAt = performance.now();
          if (isFailing)
            return Promise.reject(
              Object.assign(new Error("connection reset"), { code: "ECONNRESET" }),
            );
          return of.begin(...given);
        };
      },
    });
  await using _flaky = startWorker(database, world, { settings, wrapSql: failOften });
  await untilStatus(sql, target, "published", { timeoutMs: 8_000 });
  stuck.resolve();
});
