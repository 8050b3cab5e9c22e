import { randomUUID } from "node:crypto";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Outcome } from "@postrider/platforms/publishing/outcome";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { markCalls } from "#src/calls/marks.ts";
import { countTasks } from "#src/publishing/db/task-counts.ts";
import { TASK_TABLE } from "#src/publishing/db/task-table.ts";
import {
  lastUpdate,
  listAttempts,
  listUpdates,
  openDatabase,
  readTask,
  request,
  startWorker,
  untilStatus,
  World,
  type Reaction,
  type TestTarget,
  openStage,
} from "./fixture.ts";

const HOLD_AFTER = 5;
const TARGETS = 40;
/**
 * With these settings, the platform is not searched during the test for targets whose publishing
 * call had no answer.
 */
const SETTINGS = { visibleCallMs: 60_000, holdAfterUnknowns: HOLD_AFTER, probeMs: [3_600_000] };

const badGateway: Reaction = () => ({ kind: "unknown", message: "HTTP 502" });

/**
 * Adds `count` due targets, each of another account, on a platform that answers every publishing
 * call with HTTP 502.
 */
function addTargets(world: World, count: number): readonly TestTarget[] {
  world.reactions = Array.from({ length: 1_000 }, () => badGateway);
  return Array.from({ length: count }, () => world.addTarget());
}

async function countByStatus(sql: Sql): Promise<Readonly<Record<string, number>>> {
  const rows = await sql<{ status: string; count: number }[]>`
    select status, count(*)::int as count
    from publish_tasks
    group by status`;
  return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
}

/**
 * Makes the next probe of every platform due now. A probe is a publishing call that tests whether a
 * platform, to which publishing is held back, answers again.
 */
async function makeProbeDue(sql: Sql): Promise<void> {
  await sql`update platform_breakers set probe_at = now()`;
  await sql`update publish_tasks set wake_at = now() where status = 'queued'`;
}

test.each([
  [1, HOLD_AFTER],
  [2, 2 * HOLD_AFTER],
])(
  "with %i delivery processes, at most %i of 40 due targets get an unknown outcome before a platform that answers 502 is held",
  async (processes, maximum) => {
    await using stack = new AsyncDisposableStack();
    const database = stack.use(await openDatabase());
    const { sql } = database;
    const world = new World();
    const targets = addTargets(world, TARGETS);
    for (let index = 0; index < processes; index += 1)
      stack.use(startWorker(database, world, { settings: SETTINGS }));
    await request(sql, ...targets);

    const counts = await eventually(async () => {
      const found = await countByStatus(sql);
      const settled = (found.unknown ?? 0) + (found.queued ?? 0);
      const held = await sql`select 1 from platform_breakers where held_since is not null`;
      return settled === TARGETS && held.length > 0 ? found : false;
    });
    expect(counts.unknown).toBeLessThanOrEqual(maximum);
    expect(world.calls).toHaveLength(counts.unknown ?? 0);
  },
);

test("if publishing is not held back, a platform that answers every publishing call with 502 leaves all 40 due targets with an unknown outcome", async () => {
  await using database = await openDatabase();
  const world = new World();
  const targets = addTargets(world, TARGETS);
  await using _worker = startWorker(database, world, {
    settings: { ...SETTINGS, holdAfterUnknowns: 0 },
  });
  await request(database.sql, ...targets);

  await eventually(async () =>
    expect(await countByStatus(database.sql)).toEqual({ unknown: TARGETS }),
  );
});

test("when a delivery process starts with PLATFORM_HOLD_AFTER=0, publishing to a platform that an earlier process held back continues at once", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const target = world.addTarget();
  await sql`
    insert into platform_breakers (platform, held_since, probe_at)
    values ('x', now() - interval '1 minute', now() + interval '1 hour')`;
  await request(sql, target);

  await using _worker = startWorker(database, world, {
    settings: { ...SETTINGS, holdAfterUnknowns: 0 },
  });

  await untilStatus(sql, target, "published");
  expect(await sql`select 1 from platform_breakers where held_since is not null`).toEqual([]);
});

/**
 * Makes many due targets of a platform that answers every publishing call with HTTP 502, until
 * publishing to it is held back.
 */
async function holdPlatform(count: number) {
  await using stack = new AsyncDisposableStack();
  const database = stack.use(await openDatabase());
  const world = new World();
  const targets = addTargets(world, count);
  stack.use(
    startWorker(database, world, {
      settings: SETTINGS,
      connectors: { x: world.connector(), bluesky: new World().connector("bluesky") },
    }),
  );
  await request(database.sql, ...targets);
  const { sql } = database;
  await eventually(async () =>
    expect(await countByStatus(sql)).toEqual({ unknown: HOLD_AFTER, queued: count - HOLD_AFTER }),
  );
  await eventually(async () => {
    const told = await Promise.all(targets.map((target) => lastUpdate(sql, target)));
    expect(told.every((update) => update?.errorCode !== undefined)).toBe(true);
  });
  const opened = stack.move();
  return { database, sql, world, targets, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

/** Returns those of the targets for which no publishing call was sent. */
async function listQueued(sql: Sql, targets: readonly TestTarget[]) {
  const rows = await Promise.all(
    targets.map(async (target) => ({ target, task: await readTask(sql, target) })),
  );
  return rows.filter(({ task }) => task.status === "queued").map(({ target }) => target);
}

test("while publishing to a platform is held back, a target waits without an unknown outcome, and its attempt says why it was not sent", async () => {
  await using run = await holdPlatform(7);
  const { sql, targets } = run;

  const [held] = await listQueued(sql, targets);
  if (held === undefined) throw new Error("no target is held");
  const message =
    "not sent: the platform left the latest publishing calls of several posts without an answer; the post is sent when the platform answers again";
  expect(await listUpdates(sql, held)).toMatchObject([
    {
      status: "publishing",
      errorCode: "platform_unavailable",
      errorMessage: message,
      errorRetryable: true,
      attemptCount: 1,
      attempt: { number: 1, outcome: "retry", code: "platform_unavailable", message },
    },
  ]);
  expect((await lastUpdate(sql, held))?.nextAttemptAt).toBeDefined();
});

test("while a platform is held, one target at a time is sent as a probe, and a probe with an unknown outcome keeps the others waiting", async () => {
  await using run = await holdPlatform(10);
  const { sql, world, targets } = run;

  await makeProbeDue(sql);
  await eventually(async () =>
    expect(await countByStatus(sql)).toEqual({ unknown: HOLD_AFTER + 1, queued: 4 }),
  );
  await makeProbeDue(sql);
  await eventually(async () =>
    expect(await countByStatus(sql)).toEqual({ unknown: HOLD_AFTER + 2, queued: 3 }),
  );
  expect(world.calls).toHaveLength(HOLD_AFTER + 2);
  // While publishing to the platform is held back, further tries of a target that waits are not
  // reported and do not count as publishing attempts.
  for (const target of await listQueued(sql, targets))
    expect(await listUpdates(sql, target)).toHaveLength(1);
});

test("when a platform answers a probe, publishing to it is no longer held back and all waiting targets are published", async () => {
  await using run = await holdPlatform(20);
  const { sql, world, targets } = run;
  const held = await listQueued(sql, targets);

  world.reactions = [];
  await makeProbeDue(sql);

  for (const target of held) {
    await untilStatus(sql, target, "published");
    const attempts = await listAttempts(sql, target);
    expect(attempts.map(({ outcome }) => outcome)).toEqual(["retry", "published"]);
  }
  expect(await sql`select unknowns_in_row, held_since from platform_breakers`).toMatchObject([
    { unknownsInRow: 0, heldSince: null },
  ]);
});

/**
 * Opens a database with targets in work. Publishing to their platform is held back, and its next
 * probe is due.
 */
async function openHeldTargets(count: number) {
  const database = await openDatabase();
  const { sql } = database;
  const world = new World();
  const targets = addTargets(world, count).toSorted((a, b) => (a.targetId < b.targetId ? -1 : 1));
  await request(sql, ...targets);
  await sql`update publish_tasks set status = 'working', fence = 1`;
  const held = targets.map(({ targetId }) => ({ targetId, generation: 1, fence: 1 }));
  await sql`
    insert into platform_breakers (platform, held_since, probe_at)
    values ('x', now() - interval '1 minute', now())`;
  const marks = held.map((key) => ({
    ...key,
    callKey: key.targetId,
    externalAccountId: key.targetId,
    callMs: 60_000,
  }));
  return { sql, marks, [Symbol.asyncDispose]: () => database[Symbol.asyncDispose]() };
}

/** Returns the seconds until the next probe of the platform, rounded. */
async function readProbeWait(sql: Sql): Promise<number | undefined> {
  const [breaker] = await sql<{ waitS: number }[]>`
    select extract(epoch from probe_at - now())::int as wait_s
    from platform_breakers`;
  return breaker?.waitS;
}

test("when two delivery processes want to send a probe to an unresponsive platform at the same time, only one of them sends it", async () => {
  await using run = await openHeldTargets(6);
  const { sql, marks } = run;

  const marked = await Promise.all(
    [marks.slice(0, 3), marks.slice(3)].map((requests) => markCalls(sql, TASK_TABLE, requests)),
  );

  expect(marked.flat()).toHaveLength(1);
  // The platform gets no second probe (a publishing call that tests whether it answers again)
  // before the first probe must have ended.
  expect(await readProbeWait(sql)).toBeGreaterThanOrEqual(60);
});

test("the next probe of a platform waits for the deadline of the current probe, not for the later deadline of a call that was not sent", async () => {
  await using run = await openHeldTargets(2);
  const { sql, marks } = run;
  const limits = [60_000, 300_000];
  const requests = marks.map((mark, index) => ({ ...mark, callMs: limits[index] ?? 0 }));

  const probes = await markCalls(sql, TASK_TABLE, requests);
  expect(probes).toHaveLength(1);
  const sent = marks.findIndex(({ targetId }) => targetId === probes[0]?.targetId);
  expect(await readProbeWait(sql)).toBeLessThanOrEqual((limits[sent] ?? 0) / 1_000 + 1);
});

test("while publishing to a platform is held back, a call to a server of the account's owner is sent, but not as the probe of the platform", async () => {
  await using run = await openHeldTargets(3);
  const { sql, marks } = run;
  const requests = marks.map((mark, index) => ({ ...mark, isForeignHost: index === 0 }));

  expect(await markCalls(sql, TASK_TABLE, requests.slice(0, 1))).toHaveLength(1);
  expect(await readProbeWait(sql)).toBeLessThanOrEqual(0);
  const probes = await markCalls(sql, TASK_TABLE, requests.slice(1));
  expect(probes).toHaveLength(1);
});

test.each<[string, Outcome]>([
  ["is not sent", { kind: "not_sent" }],
  [
    "is refused a connection",
    { kind: "retryable", code: "platform_unavailable", message: "connection refused" },
  ],
])(
  "after a probe that %s, the next probe follows after the ordinary wait, although the deadline of the first probe has not passed",
  async (_what, outcome) => {
    await using database = await openStage();
    const { sql, world } = database;
    world.reactions = [() => outcome];
    const target = world.addTarget();
    await sql`
      insert into platform_breakers (platform, held_since, probe_at)
      values ('x', now() - interval '1 minute', now())`;
    await using _worker = startWorker(database, world, {
      settings: { ...SETTINGS, visibleCallMs: 3_600_000, probeMs: [20] },
    });
    await request(sql, target);

    await untilStatus(sql, target, "published");
    expect(world.calls).toHaveLength(2);
  },
);

test("publishing to a platform is not held back when the servers of the owners of many accounts leave publishing calls without an answer", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const targets = addTargets(world, TARGETS);
  const connector = { ...world.connector(), isForeignHost: () => true };
  await using _worker = startWorker(database, world, {
    settings: SETTINGS,
    connectors: { x: connector },
  });
  await request(sql, ...targets);

  await eventually(async () => expect(await countByStatus(sql)).toEqual({ unknown: TARGETS }));
  expect(await sql`select 1 from platform_breakers where unknowns_in_row > 0`).toEqual([]);
});

test("while account owners' own servers do not answer, publishing calls to the platform itself are still made concurrently", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const ended = Promise.withResolvers<void>();
  const foreign = Array.from({ length: 8 }, () =>
    world.addTarget({ text: `foreign ${randomUUID()}` }),
  );
  const connector: PublishingConnector = {
    ...world.connector(),
    isForeignHost: ({ externalId }) =>
      foreign.some(({ accountId }) => externalId === `external-${accountId}`),
  };
  world.reactions = foreign.map(() => async () => {
    await ended.promise;
    return { kind: "unknown", message: "HTTP 502" };
  });
  await using _worker = startWorker(database, world, {
    settings: SETTINGS,
    connectors: { x: connector },
  });
  // The open calls end before the worker is disposed of, even if the test fails.
  using _ended = { [Symbol.dispose]: () => ended.resolve() };
  await request(sql, ...foreign);
  await eventually(() => world.calls.length === foreign.length);
  const target = world.addTarget();
  await request(sql, target);

  await untilStatus(sql, target, "published");
});

test("while a platform is held, targets of other platforms are published, and the platform is still searched for posts with an unknown outcome", async () => {
  await using run = await holdPlatform(6);
  const { sql, world } = run;
  const other = world.addTarget({ platform: "bluesky" });
  await request(sql, other);

  await untilStatus(sql, other, "published");
  world.verdicts = [() => ({ kind: "present", externalId: "found", permalink: null })];
  await sql`update publish_tasks set wake_at = now() where status = 'unknown'`;
  await eventually(async () => expect((await countByStatus(sql)).published).toBe(2));
  expect(await sql`select 1 from platform_breakers where held_since is not null`).toHaveLength(1);
});

test("while publishing to a platform is held back, the platform's targets are neither claimed nor counted as late", async () => {
  await using run = await holdPlatform(6);
  const { sql, world } = run;
  const late = world.addTarget();
  await request(sql, late);
  const done = world.addTarget({ platform: "bluesky" });
  await request(sql, done);
  await untilStatus(sql, done, "published");

  expect(await readTask(sql, late)).toMatchObject({ status: "queued", fence: 0 });
  await sql`update publish_tasks set wake_at = now() where status = 'queued'`;
  const states = (await countTasks(sql)).filter(({ platform }) => platform === "x");
  expect(states.find(({ state }) => state === "held")).toMatchObject({ count: 2 });
  expect(states.find(({ state }) => state === "due")).toBeUndefined();
});

test("a target whose publish_before passes while publishing to its platform is held back fails as missed at the next probe, without being sent", async () => {
  await using run = await holdPlatform(6);
  const { sql, world, targets } = run;
  const [held] = await listQueued(sql, targets);
  if (held === undefined) throw new Error("no target is held");

  await sql`
    update publish_tasks
    set publish_before = now()
    where target_id = ${held.targetId}`;
  await makeProbeDue(sql);

  await untilStatus(sql, held, "failed");
  expect(await lastUpdate(sql, held)).toMatchObject({ errorCode: "missed" });
  expect(world.calls.map(({ targetId }) => targetId)).not.toContain(held.targetId);
});

test("a target in a preparation step is released without a publishing call if its platform is held before the step ends", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const targets = addTargets(world, HOLD_AFTER);
  const slow = world.addTarget({ text: "slow" });
  const gate = Promise.withResolvers<void>();
  let isPreparing = false;
  world.prepare = [
    {
      name: "upload",
      isDone: (handles) => handles.uploaded !== undefined,
      run: async ({ text }) => {
        if (text === "slow") {
          isPreparing = true;
          await gate.promise;
        }
        return { uploaded: "yes" };
      },
    },
  ];
  await using _worker = startWorker(database, world, { settings: SETTINGS });
  await request(sql, slow);
  await eventually(() => isPreparing);
  await request(sql, ...targets);
  await eventually(async () => expect((await countByStatus(sql)).unknown).toBe(HOLD_AFTER));

  gate.resolve();

  await untilStatus(sql, slow, "queued");
  expect(await lastUpdate(sql, slow)).toMatchObject({
    errorCode: "platform_unavailable",
    attempt: { outcome: "retry" },
  });
  expect(world.calls).toHaveLength(HOLD_AFTER);
});

test("after five publishing calls of one account with an unknown outcome, the account is paused, but publishing to its platform is not held back", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  const accountId = randomUUID();
  world.reactions = Array.from({ length: 10 }, () => badGateway);
  const targets = Array.from({ length: 6 }, () => world.addTarget({ accountId }));
  const settings = { ...SETTINGS, visibleCallMs: 50 };
  const pause = { accountPauseMs: [3_600_000] };
  await using _worker = startWorker(database, world, { settings: { ...settings, ...pause } });
  await request(sql, ...targets);

  await eventually(async () => expect(await countByStatus(sql)).toEqual({ failed: 5, queued: 1 }));
  expect(await sql`select 1 from platform_breakers where held_since is not null`).toEqual([]);
  const [breaker] = await sql<{ isPaused: boolean }[]>`
    select not_before > now() + interval '30 minutes' as is_paused
    from account_breakers`;
  expect(breaker).toEqual({ isPaused: true });
});
