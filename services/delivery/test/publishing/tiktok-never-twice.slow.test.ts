import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import { jpegMedia, startMediaServer } from "@postrider/platforms/test/media-server";
import { mp4Media, type TestMedia } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { createTiktokPublishingConnector } from "@postrider/platforms/tiktok/publishing/connector";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startAskForDetails } from "#src/publishing/jobs/ask-for-details.ts";
import { addTargetOf } from "./add-target-of.ts";
import {
  lastUpdate,
  listUpdates,
  openDatabase,
  publishingDeps,
  readHandles,
  readTask,
  request,
  startWorker,
  World,
  type TestTarget,
  untilStatus,
} from "./fixture.ts";

const MIB = 1024 * 1024;
/**
 * Settings with which the last search for lost photos comes after 5.4 s. TikTok shows photos only
 * after part of that time.
 */
const SHORT = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.003 };

const platform = await startTestPlatform("tiktok");
const server = await startMediaServer();
/** Splits even small videos into parts, so that the tests send few bytes. */
const chunkSizes = { wholeBytes: 0, chunkBytes: [5 * MIB] };
const tiktok = createTiktokPublishingConnector({ baseUrl: platform.url, chunkSizes });
beforeEach(() => platform.control("POST", "settings", { tiktokWholeVideoBytes: 0 }));
const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());

interface Scene {
  readonly world: World;
  readonly target: TestTarget;
  readonly media: TestMedia;
}

async function createScene(
  media: TestMedia,
  { privacy = "public", world = new World() } = {},
): Promise<Scene> {
  const publication = {
    ...(await platform.createPublication([media], "Ahoy #sea")),
    privacy,
  };
  const target = addTargetOf(world, publication, { platform: "tiktok", media: [media] });
  return { world, target, media };
}

/**
 * Size of a video that is uploaded in two parts. The deadline of a platform call grows with the
 * size.
 */
const LARGE = 11 * MIB;
const videoScene = (bytes = 100_000) => createScene(mp4Media(bytes));
const photoScene = () => createScene(server.serve(jpegMedia(1)));

const start = ({ world }: Scene) =>
  startWorker(database, world, { settings: SHORT, connectors: { tiktok } });

const startDetails = ({ world }: Scene) =>
  startAskForDetails(
    publishingDeps(world, database.sql, { settings: SHORT, connectors: { tiktok } }),
  );

async function untilEnded({ target }: Scene): Promise<string> {
  return await eventually(async () => {
    const { status } = await readTask(database.sql, target);
    return (status === "published" || status === "failed") && status;
  });
}

async function expectOnce({ media }: Scene): Promise<void> {
  const kind = media.kind === "video" ? "video" : "image";
  expect(await platform.visible()).toMatchObject([
    { media: [{ kind, sha256: media.sha256 }], createCalls: 1 },
  ]);
}

/** Counts the rows of the target for which TikTok is still asked for a post id. */
async function countQuestions({ target }: Scene): Promise<number> {
  const rows = await database.sql`
    select 1
    from detail_questions
    where target_id = ${target.targetId}`;
  return rows.length;
}

async function hits(): Promise<number> {
  const faults = await platform.control<{ hits: number }[]>("GET", "faults?platform=tiktok");
  return faults.reduce((sum, fault) => sum + fault.hits, 0);
}

// The fault matrix tests further faults of the platform calls for TikTok videos.
test.each([
  ["creates the upload", "create"],
  ["takes a part of the upload", "upload"],
  ["takes the last part of the upload", "publish"],
])(
  "a TikTok video is published once after TikTok answered the call that %s with 503",
  async (_call, operation) => {
    const scene = await videoScene(operation === "upload" ? LARGE : undefined);
    await platform.addFault(operation, "status", { status: 503 });
    await using _worker = start(scene);
    await request(database.sql, scene.target);
    expect(await untilEnded(scene)).toBe("published");
    expect(await hits()).toBe(1);
    await expectOnce(scene);
  },
);

test.each([
  ["is dropped before it arrives", "drop_before", {}],
  ["is dropped after TikTok took it", "drop_after_commit", {}],
  ["is answered with 503", "status", { status: 503 }],
])(
  "TikTok photos are never sent again when their publishing call %s",
  async (_fault, mode, extra) => {
    const scene = await photoScene();
    await platform.addFault("publish", mode, extra);
    await using _worker = start(scene);
    await request(database.sql, scene.target);
    const status = await untilEnded(scene);
    const task = await readTask(database.sql, scene.target);
    const inits = (await platform.control<{ path: string }[]>("GET", "requests?platform=tiktok"))
      .map(({ path }) => path)
      .filter((path) => path.endsWith("/content/init/"));
    expect(inits).toHaveLength(1);
    // A post whose publishing call arrived is found. A call that did not arrive cannot be told from
    // a call that arrives late.
    const visible = await platform.visible();
    const isThere = visible.length > 0;
    expect(visible.map(({ createCalls }) => createCalls)).toEqual(isThere ? [1] : []);
    expect(status).toBe(isThere ? "published" : "failed");
    expect(task.errorCode).toBe(isThere ? null : "outcome_unknown");
  },
);

test("TikTok photos are sent once, as soon as the connection to TikTok works again", async () => {
  const scene = await photoScene();
  const dead = createTiktokPublishingConnector({ baseUrl: "http://127.0.0.1:1" });
  const halfDead: PublishingConnector = {
    ...tiktok,
    publish: (publication, handles, guard) =>
      isUp
        ? tiktok.publish(publication, handles, guard)
        : dead.publish(publication, handles, guard),
  };
  let isUp = false;
  await using _worker = startWorker(database, scene.world, {
    settings: SHORT,
    connectors: { tiktok: halfDead },
  });
  await request(database.sql, scene.target);
  await eventually(async () => (await readTask(database.sql, scene.target)).callNumber > 0);
  isUp = true;
  expect(await untilEnded(scene)).toBe("published");
  await expectOnce(scene);
});

test("a TikTok video is published once after its worker dies while it sends the last part of the video", async () => {
  const scene = await videoScene();
  await platform.addFault("publish", "delay", { delayMs: 60_000 });
  const dying = start(scene);
  await request(database.sql, scene.target);
  await eventually(async () => (await platform.visible()).length === 1);
  await dying.crash();
  await using _next = start(scene);
  expect(await untilEnded(scene)).toBe("published");
  await expectOnce(scene);
  expect(await hits()).toBe(1);
});

test("the upload of a TikTok video is continued after its worker dies between two parts", async () => {
  const scene = await videoScene(LARGE);
  await platform.addFault("upload", "delay", { delayMs: 60_000 });
  const dying = start(scene);
  await request(database.sql, scene.target);
  await eventually(async () => (await hits()) === 1);
  await dying.crash();
  await using _next = start(scene);
  expect(await untilEnded(scene)).toBe("published");
  await expectOnce(scene);
  const calls = await platform.calls();
  const requests = await platform.control<{ operation: string }[]>(
    "GET",
    "requests?platform=tiktok",
  );
  expect(requests.filter(({ operation }) => operation === "create")).toHaveLength(1);
  expect(calls.length).toBeLessThan(20);
});

test("TikTok photos are found on TikTok by their publish id after their worker dies", async () => {
  const scene = await photoScene();
  await platform.addFault("status", "status", { status: 500, times: 1000 });
  const dying = start(scene);
  await request(database.sql, scene.target);
  await untilStatus(database.sql, scene.target, "unknown");
  await dying.crash();
  const { publishId } = await readHandles(database.sql, scene.target);
  expect(publishId).toMatch(/^p_pub_url~/);
  await platform.control("DELETE", "faults");
  await using _next = start(scene);
  expect(await untilEnded(scene)).toBe("published");
  await expectOnce(scene);
});

test("a post id that TikTok returns later is added to the target, and no other field of the target changes", async () => {
  const scene = await videoScene();
  await using _worker = start(scene);
  await request(database.sql, scene.target);
  await untilEnded(scene);
  const before = await lastUpdate(database.sql, scene.target);
  expect(before).toMatchObject({ status: "published" });
  expect(before?.externalId).toBeUndefined();
  await using _details = startDetails(scene);
  const after = await eventually(async () => {
    const update = await lastUpdate(database.sql, scene.target);
    return update?.externalId !== undefined && update;
  });
  const [{ id } = { id: "" }] = await platform.visible();
  const { username } = scene.world.account(scene.target);
  expect(after).toMatchObject({
    status: "published",
    externalId: id,
    permalink: `https://www.tiktok.com/@${username}/video/${id}`,
    publishedAt: before?.publishedAt,
    attemptCount: before?.attemptCount,
  });
  expect(after.version).toBe((before?.version ?? 0n) + 1n);
  expect(await countQuestions(scene)).toBe(0);
  await expectOnce(scene);
});

test("a post id that TikTok does not return yet is requested again, and the target stays published", async () => {
  const scene = await videoScene();
  await using _worker = start(scene);
  await request(database.sql, scene.target);
  await untilEnded(scene);
  const known = (await listUpdates(database.sql, scene.target)).length;
  for (const mode of ["drop_before", "garbage_body", "status"])
    await platform.addFault("status", mode);
  await using _details = startDetails(scene);
  await eventually(async () => (await readTask(database.sql, scene.target)).externalId !== null);
  const updates = await listUpdates(database.sql, scene.target);
  expect(updates).toHaveLength(known + 1);
  expect(updates.slice(known).map(({ status }) => status)).toEqual(["published"]);
});

test("the id of a private TikTok post is never requested, and the id of any other TikTok post is requested for at most a day", async () => {
  const scene = await videoScene();
  const { world } = scene;
  const hidden = await createScene(mp4Media(100_000, 1), { privacy: "private", world });
  await using _worker = start(scene);
  await request(database.sql, hidden.target, scene.target);
  await Promise.all([untilEnded(hidden), untilEnded(scene)]);
  expect(await countQuestions(hidden)).toBe(0);
  expect(await countQuestions(scene)).toBe(1);
  await platform.addFault("status", "status", { status: 500, times: 1000 });
  await database.sql`update detail_questions set created_at = now() - interval '25 hours'`;
  await using _details = startDetails(scene);
  await eventually(async () => (await countQuestions(scene)) === 0);
  expect(await readTask(database.sql, scene.target)).toMatchObject({
    status: "published",
    externalId: null,
  });
});
