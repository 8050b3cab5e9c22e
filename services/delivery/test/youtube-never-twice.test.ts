import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Publication } from "@postrider/platforms/publishing/publication";
import { mp4Media, type TestMedia } from "@postrider/platforms/test/test-media";
import { TestPlatform } from "@postrider/platforms/test/test-platform";
import { createYoutubePublishingConnector } from "@postrider/platforms/youtube/publishing/connector";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
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
} from "./fixture.ts";

const KB = 1024;
const SHORT = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.001 };

let platform: TestPlatform;
let youtube: PublishingConnector;
let database: TestDatabase;

beforeAll(async () => {
  [platform, database] = await Promise.all([TestPlatform.start("youtube"), openDatabase()]);
  youtube = createYoutubePublishingConnector({ baseUrl: platform.url, chunkBytes: 256 * KB });
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
beforeEach(() => platform.reset());

interface Scene {
  readonly world: World;
  readonly target: TestTarget;
  readonly film: TestMedia;
}

async function createScene(bytes = 600 * KB): Promise<Scene> {
  const world = new World();
  const film = mp4Media(bytes);
  const publication: Publication = {
    ...(await platform.createPublication([film], "A film", ({ accessToken }) => accessToken ?? "")),
    title: "Once",
  };
  const target = addTargetOf(world, publication, { platform: "youtube", media: [film] });
  return { world, target, film };
}

const start = ({ world }: Scene) =>
  startWorker(database, world, { settings: SHORT, connectors: { youtube } });

async function untilPublished({ target }: Scene): Promise<void> {
  await eventually(async () => (await readTask(database.sql, target)).status === "published");
}

async function expectOnce({ target, film }: Scene): Promise<void> {
  const { externalId } = await readTask(database.sql, target);
  expect(await platform.visible()).toMatchObject([
    { id: externalId, media: [{ kind: "video", sha256: film.sha256 }] },
  ]);
}

async function hits(): Promise<number> {
  const faults = await platform.control<{ hits: number }[]>("GET", "faults?platform=youtube");
  return faults.reduce((sum, fault) => sum + fault.hits, 0);
}

const BREAKS: readonly (readonly [mode: string, extra: Readonly<Record<string, unknown>>])[] = [
  ["drop_before", {}],
  ["drop_after_commit", {}],
  ["commit_late", { delayMs: 1500 }],
  ["status_after_commit", { status: 500 }],
  ["status_after_commit", { status: 429 }],
  ["status", { status: 503 }],
  ["garbage_body", {}],
];
/** Beyond the deadline of the visible call; invisible ones have more time than a test. */
const DELAY = ["delay", { delayMs: 5_000 }] as const;

describe.each([
  ["create", BREAKS],
  ["upload", BREAKS],
  ["publish", [...BREAKS, DELAY]],
] as const)("whatever breaks at %s", (operation, breaks) => {
  test.each(breaks)("%s %j ends in one video", async (mode, extra) => {
    const scene = await createScene();
    await platform.addFault(operation, mode, extra);
    await using _worker = start(scene);
    await request(database.sql, scene.target);
    await untilPublished(scene);
    expect(await hits()).toBe(1);
    if (mode === "commit_late") {
      // The late call is done once its log entry is no longer pending.
      await eventually(async () => {
        const log = await platform.control<{ outcome: string }[]>(
          "GET",
          "requests?platform=youtube",
        );
        return log.every(({ outcome }) => outcome !== "pending");
      });
    }
    await expectOnce(scene);
  });
});

test("a call without an answer, and a session that does not answer either, end in one video", async () => {
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
  "a worker that dies in %s is followed by one that goes on",
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

test("a worker that stops before its call is followed by one that sends what is left only", async () => {
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

test("a used-up quota waits, costs no attempt and begins nothing", async () => {
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

test("a published video is deleted", async () => {
  const scene = await createScene(1000);
  await using _worker = start(scene);
  await request(database.sql, scene.target);
  await untilPublished(scene);
  const { externalId } = await readTask(database.sql, scene.target);
  await consume(database.sql, [toDeletionRecord(scene.target, externalId ?? "")]);
  await eventually(async () => (await lastDeletion(database.sql, scene.target)) !== undefined);
  await eventually(async () => (await platform.visible()).length === 0);
});
