import type { Publication } from "@postrider/platforms/publishing/publication";
import { mp4Media, type TestMedia } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { createYoutubePublishingConnector } from "@postrider/platforms/youtube/publishing/connector";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { addTargetOf } from "./add-target-of.ts";
import {
  consume,
  lastDeletion,
  listAttempts,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  World,
  type TestTarget,
  untilStatus,
} from "./fixture.ts";

const KB = 1024;
const SHORT = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.001 };

const platform = await startTestPlatform("youtube");
const youtube = createYoutubePublishingConnector({ baseUrl: platform.url, chunkBytes: 256 * KB });
const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());

interface Scene {
  readonly world: World;
  readonly target: TestTarget;
  readonly video: TestMedia;
}

async function createScene(bytes = 600 * KB): Promise<Scene> {
  const world = new World();
  const video = mp4Media(bytes);
  const publication: Publication = {
    ...(await platform.createPublication([video], "A video")),
    title: "Once",
  };
  const target = addTargetOf(world, publication, { platform: "youtube", media: [video] });
  return { world, target, video };
}

const start = ({ world }: Scene) =>
  startWorker(database, world, { settings: SHORT, connectors: { youtube } });

async function untilPublished({ target }: Scene): Promise<void> {
  await untilStatus(database.sql, target, "published");
}

async function expectOnce({ target, video }: Scene): Promise<void> {
  const { externalId } = await readTask(database.sql, target);
  expect(await platform.visible()).toMatchObject([
    { id: externalId, media: [{ kind: "video", sha256: video.sha256 }] },
  ]);
}

async function hits(): Promise<number> {
  const faults = await platform.control<{ hits: number }[]>("GET", "faults?platform=youtube");
  return faults.reduce((sum, fault) => sum + fault.hits, 0);
}

// The fault matrix tests further faults of the platform calls for YouTube videos.
test.each([
  ["creates the session", "create"],
  ["takes a part of the video", "upload"],
  ["takes the last part of the video", "publish"],
])(
  "a YouTube video is published once after YouTube answered the call that %s with 503",
  async (_call, operation) => {
    const scene = await createScene();
    await platform.addFault(operation, "status", { status: 503 });
    await using _worker = start(scene);
    await request(database.sql, scene.target);
    await untilPublished(scene);
    expect(await hits()).toBe(1);
    await expectOnce(scene);
  },
);

test("a YouTube video is published once when both the last upload call and the status request of its upload session get no answer", async () => {
  const scene = await createScene(1000);
  await platform.addFault("publish", "drop_after_commit");
  await platform.addFault("status", "drop_before", { times: 3 });
  await using _worker = start(scene);
  await request(database.sql, scene.target);
  await untilPublished(scene);
  expect(await hits()).toBe(4);
  await expectOnce(scene);
  expect(await listAttempts(database.sql, scene.target)).toMatchObject([{ outcome: "published" }]);
});

test.each(["upload", "publish"])(
  "a YouTube video is published once after its worker dies in the %s call",
  async (operation) => {
    const scene = await createScene();
    await platform.addFault(operation, "delay", { delayMs: 10_000 });
    const dying = start(scene);
    await request(database.sql, scene.target);
    await eventually(async () => (await hits()) === 1);
    await dying.crash();
    await using _next = start(scene);
    await untilPublished(scene);
    await expectOnce(scene);
  },
);

test("an upload to YouTube continues in the same upload session after its worker stops", async () => {
  const scene = await createScene();
  const stopping = start(scene);
  await platform.addFault("upload", "delay", { delayMs: 300 });
  await request(database.sql, scene.target);
  await eventually(async () => (await hits()) === 1);
  await stopping[Symbol.asyncDispose]();
  await using _next = start(scene);
  await untilPublished(scene);
  await expectOnce(scene);
  const calls = await platform.control<{ operation: string }[]>("GET", "requests?platform=youtube");
  expect(calls.filter(({ operation }) => operation === "create")).toHaveLength(1);
});

test("a target waits in the queue and starts no upload when the YouTube quota of the API project is used up", async () => {
  onTestFinished(async () => void (await database.sql`delete from platform_limits`));
  const scene = await createScene(1000);
  await platform.control("POST", "settings", { quotas: true });
  const spent = await createScene(1000);
  const { token } = spent.world.account(spent.target);
  const url = `${platform.url}/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status`;
  const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
  const body = JSON.stringify({ snippet: { title: "Nonsense" }, status: {} });
  for (let index = 0; index < 100; index += 1)
    await (await fetch(url, { method: "POST", headers, body })).text();
  scene.target.publishBefore = new Date(Date.now() + 26 * 3_600_000);
  await using _worker = start(scene);
  await request(database.sql, scene.target);
  await eventually(async () => {
    const { errorCode } = await readTask(database.sql, scene.target);
    return errorCode === "platform_quota";
  });
  expect(await readTask(database.sql, scene.target)).toMatchObject({ status: "queued" });
  expect(await platform.visible()).toEqual([]);
});

test("a published YouTube video is deleted on request", async () => {
  const scene = await createScene(1000);
  await using _worker = start(scene);
  await request(database.sql, scene.target);
  await untilPublished(scene);
  const { externalId } = await readTask(database.sql, scene.target);
  await consume(database.sql, [toDeletionRecord(scene.target, externalId ?? "")]);
  await eventually(async () => (await lastDeletion(database.sql, scene.target)) !== undefined);
  await eventually(async () => (await platform.visible()).length === 0);
});
