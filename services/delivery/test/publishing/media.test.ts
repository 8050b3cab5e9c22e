import { once } from "node:events";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Handles } from "@postrider/platforms/publishing/handles";
import type { PrepareStep, StepResult } from "@postrider/platforms/publishing/steps";
import { mp4Media, pngMedia, type TestMedia } from "@postrider/platforms/test/test-media";
import type { Sql } from "@postrider/shared/postgres";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import {
  listAttempts,
  openDatabase,
  readTask,
  request,
  startWorker,
  World,
  type TestTarget,
} from "./fixture.ts";

const never = new Promise<never>(() => undefined);
const SHORT = { leaseMs: 300, visibleCallMs: 600 };

/** A step before the publishing call that returns a handle under the step's own name. */
function step(
  name: string,
  run: (handles: Handles) => StepResult | Promise<StepResult>,
): PrepareStep {
  return {
    name,
    isDone: (handles) => handles[name] !== undefined,
    run: async (_publication, handles) => await run(handles),
  };
}

/** A step before the publishing call that reads the first file of the post, as an upload does. */
function uploadStep(): PrepareStep {
  return {
    name: "upload",
    isDone: (handles) => handles.upload !== undefined,
    run: async ({ media: [first] }, _handles, signal) => {
      let bytes = 0;
      for await (const chunk of (await first?.read({ start: 0 }, signal)) ?? [])
        bytes += chunk.length;
      return { upload: String(bytes) };
    },
  };
}

/**
 * A connector whose publishing call reads the media of the post and adds their bytes to `received`.
 */
function carrying(world: World, received: string[]): PublishingConnector {
  return {
    ...world.connector(),
    visibleParts: ({ media }) => media.map((one) => ({ media: one, start: 0, length: one.bytes })),
    publish: async (publication) => {
      for (const media of publication.media) {
        const chunks: Uint8Array[] = [];
        const signal = new AbortController().signal;
        for await (const chunk of await media.read({ start: 0 }, signal)) chunks.push(chunk);
        received.push(Buffer.concat(chunks).toString("latin1"));
      }
      return world.make(publication);
    },
  };
}

const isStatus = (sql: Sql, target: TestTarget, status: string) => async () =>
  (await readTask(sql, target)).status === status;

/** Makes a released publish task due at once. */
async function hurry(sql: Sql, target: TestTarget): Promise<void> {
  await sql`
    update publish_tasks
    set wake_at = now()
    where target_id = ${target.targetId}
    and status = 'queued'`;
}

test("an upload whose id is stored is not repeated after its worker dies", async () => {
  await using database = await openDatabase();
  const world = new World();
  const uploads: string[] = [];
  const upload = (name: string) =>
    step(name, () => {
      uploads.push(name);
      return { [name]: `id of ${name}` };
    });
  world.prepare = [upload("first"), step("second", () => never)];
  const target = world.addTarget();
  const dying = startWorker(database, world, { settings: SHORT });
  await request(database.sql, target);
  await eventually(async () => {
    const rows = await database.sql`select 1 from publish_tasks where handles is not null`;
    return rows.length === 1;
  });
  await dying.crash();

  world.prepare = [upload("first"), upload("second")];
  await using _next = startWorker(database, world, { settings: SHORT });

  await eventually(isStatus(database.sql, target, "published"));
  expect(uploads).toEqual(["first", "second"]);
  expect(world.calls).toMatchObject([
    { handles: { first: "id of first", second: "id of second" } },
  ]);
});

test("ids that the platform returns to a preparation step while the delivery process stops are stored for the next worker", async () => {
  await using database = await openDatabase();
  const world = new World();
  let runs = 0;
  world.prepare = [
    {
      name: "upload",
      isDone: (handles) => handles.upload !== undefined,
      // The platform answers after the delivery process has begun to stop.
      run: async (_publication, _handles, signal) => {
        runs += 1;
        if (!signal.aborted) await once(signal, "abort");
        return { upload: "id" };
      },
    },
  ];
  const target = world.addTarget();
  const first = startWorker(database, world);
  await request(database.sql, target);
  await eventually(() => runs === 1);
  await first[Symbol.asyncDispose]();
  expect(world.calls).toEqual([]);

  await using _next = startWorker(database, world);

  await eventually(isStatus(database.sql, target, "published"));
  expect(runs).toBe(1);
});

test("a preparation step that must wait long releases its publish task, keeps the ids from the platform and does not count as an attempt", async () => {
  await using database = await openDatabase();
  const world = new World();
  const slow = world.addTarget();
  const other = world.addTarget({ accountId: slow.accountId });
  const seen: Handles[] = [];
  world.prepare = [
    {
      name: "upload",
      isDone: (handles) => handles.done !== undefined,
      run: ({ targetId }, handles) => {
        if (targetId !== slow.targetId) return Promise.resolve({ done: "yes" });
        seen.push(handles);
        return Promise.resolve(
          handles.progress === "2"
            ? { done: "yes" }
            : {
                kind: "wait",
                // The worker waits for 10 ms while it holds the task, but it releases the task for
                // a wait of a minute.
                afterMs: handles.progress === undefined ? 60_000 : 10,
                handles: { progress: handles.progress === undefined ? "1" : "2" },
              },
        );
      },
    },
  ];
  await using _worker = startWorker(database, world);
  await request(database.sql, slow);
  await eventually(isStatus(database.sql, slow, "queued"));
  await eventually(() => seen.length === 1);
  await request(database.sql, other);
  await eventually(isStatus(database.sql, other, "published"));
  expect(await readTask(database.sql, slow)).toMatchObject({ status: "queued", errorCode: null });

  await hurry(database.sql, slow);

  await eventually(isStatus(database.sql, slow, "published"));
  expect(seen).toEqual([{}, { progress: "1" }, { progress: "2" }]);
  expect(await readTask(database.sql, slow)).toMatchObject({ fence: 2, crashCount: 0 });
  expect(await listAttempts(database.sql, slow)).toMatchObject([
    { number: 1, outcome: "published" },
  ]);
});

test("the publication of a target waits while the media service does not answer, and the wait does not count as an attempt", async () => {
  await using database = await openDatabase();
  const world = new World();
  const image = pngMedia(1);
  image.failures = ["unavailable", "unavailable"];
  world.prepare = [uploadStep()];
  const target = world.addTarget({ media: [image] });
  await using _worker = startWorker(database, world);
  await request(database.sql, target);
  for (const reads of [1, 2]) {
    await eventually(() => image.reads === reads);
    await eventually(isStatus(database.sql, target, "queued"));
    await hurry(database.sql, target);
  }
  await eventually(isStatus(database.sql, target, "published"));
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "published" },
  ]);
});

test("after a media download was cut off, the next attempt downloads the media again, and the account is not paused", async () => {
  await using database = await openDatabase();
  const world = new World();
  const image = pngMedia(1);
  image.failures = ["broken"];
  world.prepare = [uploadStep()];
  const target = world.addTarget({ media: [image] });
  await using _worker = startWorker(database, world, { settings: { retryMs: [60_000] } });
  await request(database.sql, target);
  await eventually(async () => (await listAttempts(database.sql, target))[0]?.outcome === "retry");
  const breakers = await database.sql`
    select 1 from account_breakers where failures_in_row > 0 or not_before > now()`;
  expect(breakers).toHaveLength(0);

  await hurry(database.sql, target);

  await eventually(isStatus(database.sql, target, "published"));
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "retry", code: "media_fetch_failed" },
    { number: 2, outcome: "published" },
  ]);
});

test.each(["in a step", "before the publishing call"])(
  "a target whose media no longer exists fails without a publishing call when its worker notices this %s",
  async (where) => {
    await using database = await openDatabase();
    const world = new World();
    const image = pngMedia(1);
    image.failures = ["gone"];
    const received: string[] = [];
    if (where === "in a step") world.prepare = [uploadStep()];
    const target = world.addTarget({ media: [image] });
    const x = carrying(world, received);
    await using _worker = startWorker(database, world, { connectors: { x } });
    await request(database.sql, target);
    await eventually(isStatus(database.sql, target, "failed"));
    expect(await readTask(database.sql, target)).toMatchObject({ errorCode: "media_fetch_failed" });
    expect(received).toEqual([]);
  },
);

function contentOf(media: TestMedia): string {
  return media.content.toString("latin1");
}

test("the media of a publishing call is downloaded before the call begins, so the call succeeds when the media service fails afterwards", async () => {
  await using database = await openDatabase();
  const world = new World();
  const all = [mp4Media(300_000), pngMedia(2)];
  const received: string[] = [];
  const target = world.addTarget({ media: all });
  const x = carrying(world, received);
  const statuses: string[] = [];
  const [first] = all;
  if (first === undefined) throw new Error("no media");
  const { read } = first;
  first.read = async (...given) => {
    statuses.push((await readTask(database.sql, target)).status);
    return await read(...given);
  };
  await using _worker = startWorker(database, world, { connectors: { x } });
  await request(database.sql, target);
  await eventually(isStatus(database.sql, target, "published"));
  expect(statuses).toEqual(["working"]);
  expect(received).toEqual(all.map(contentOf));
  expect(all.map(({ reads }) => reads)).toEqual([1, 1]);
});

test("a stopping process waits for a publishing call that sends media until the deadline of that call", async () => {
  await using database = await openDatabase();
  const world = new World();
  // The deadline of a publishing call grows by 1 ms per 250 bytes of media: here it grows by 4 s
  // and becomes 4.6 s.
  const video = mp4Media(1_000_000);
  const gate = Promise.withResolvers<void>();
  let isCalled = false;
  const target = world.addTarget({ media: [video] });
  const x: PublishingConnector = {
    ...carrying(world, []),
    publish: async (publication) => {
      isCalled = true;
      await gate.promise;
      return world.make(publication);
    },
  };
  const worker = startWorker(database, world, { settings: SHORT, connectors: { x } });
  await request(database.sql, target);
  await eventually(() => isCalled);
  const [times] = await database.sql<{ seconds: number }[]>`
    select extract(epoch from call_until - called_at)::float as seconds from publish_tasks`;
  expect(times?.seconds).toBeCloseTo(4.6, 1);
  const stoppedAt = performance.now();
  const stopped = worker[Symbol.asyncDispose]();
  // The publishing call now takes longer than the deadline of a call without media plus the margin
  // for stopping.
  await eventually(() => performance.now() - stoppedAt > 2_900);
  gate.resolve();
  await stopped;
  expect(await readTask(database.sql, target)).toMatchObject({ status: "published" });
});
