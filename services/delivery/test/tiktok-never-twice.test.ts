import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import { jpegMedia, MediaServer } from "@postrider/platforms/test/media-server";
import { mp4Media, type TestMedia } from "@postrider/platforms/test/test-media";
import { TestPlatform } from "@postrider/platforms/test/test-platform";
import { createTiktokPublishingConnector } from "@postrider/platforms/tiktok/publishing/connector";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
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
} from "./fixture.ts";

const MIB = 1024 * 1024;
/** The last look for lost photos comes after 5.4 s. */
const SHORT = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.003 };

let platform: TestPlatform;
let server: MediaServer;
let tiktok: PublishingConnector;
let database: TestDatabase;

beforeAll(async () => {
  [platform, server, database] = await Promise.all([
    TestPlatform.start("tiktok"),
    MediaServer.start(),
    openDatabase(),
  ]);
  tiktok = createTiktokPublishingConnector({ baseUrl: platform.url });
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
beforeEach(() => platform.reset());

interface Scene {
  readonly world: World;
  readonly target: TestTarget;
  readonly media: TestMedia;
}

async function createScene(
  media: TestMedia,
  { privacy = "public", world = new World() } = {},
): Promise<Scene> {
  const login = ({ accessToken = "" }: Readonly<Record<string, string>>) => accessToken;
  const publication = {
    ...(await platform.createPublication([media], "Ahoy #sea", login)),
    privacy,
  };
  const target = addTargetOf(world, publication, { platform: "tiktok", media: [media] });
  return { world, target, media };
}

/** Two chunks; the deadline of a call grows with what it carries. */
const LONG = 11 * MIB;
const filmScene = (bytes = 100_000) => createScene(mp4Media(bytes));
const photoScene = () => createScene(server.serve(jpegMedia(1)));

const start = ({ world }: Scene) =>
  startWorker(database, world, { settings: SHORT, connectors: { tiktok } });

const startDetails = ({ world }: Scene) =>
  startAskForDetails(
    publishingDeps(world, database.sql, { settings: SHORT, connectors: { tiktok } }),
  );

async function untilEnded({ target }: Scene): Promise<string> {
  return await eventually(
    async () => {
      const { status } = await readTask(database.sql, target);
      return (status === "published" || status === "failed") && status;
    },
    { timeoutMs: 20_000 },
  );
}

async function expectOnce({ media }: Scene): Promise<void> {
  const kind = media.kind === "video" ? "video" : "image";
  expect(await platform.visible()).toMatchObject([
    { media: [{ kind, sha256: media.sha256 }], createCalls: 1 },
  ]);
}

/** How many ids of the target TikTok is still asked for. */
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

const BREAKS: readonly (readonly [mode: string, extra: Readonly<Record<string, unknown>>])[] = [
  ["drop_before", {}],
  ["drop_after_commit", {}],
  ["commit_late", { delayMs: 1500 }],
  ["status_after_commit", { status: 500 }],
  ["status_after_commit", { status: 429 }],
  ["status", { status: 503 }],
  ["garbage_body", {}],
  ["delay", { delayMs: 1000 }],
];

describe.each(["create", "upload", "publish"])("a film whose %s meets", (operation) => {
  test.each(BREAKS)("%s %o is posted once", { timeout: 30_000 }, async (mode, extra) => {
    const scene = await filmScene(operation === "upload" ? LONG : undefined);
    await platform.addFault(operation, mode, extra);
    await using _worker = start(scene);
    await request(database.sql, scene.target);
    expect(await untilEnded(scene)).toBe("published");
    expect(await hits()).toBe(1);
    await expectOnce(scene);
  });
});

describe("photos whose publish meets", () => {
  test.each(BREAKS)("%s %o are posted at most once", { timeout: 30_000 }, async (mode, extra) => {
    const scene = await photoScene();
    await platform.addFault("publish", mode, extra);
    await using _worker = start(scene);
    await request(database.sql, scene.target);
    const status = await untilEnded(scene);
    const task = await readTask(database.sql, scene.target);
    expect(await hits()).toBe(1);
    const inits = (await platform.control<{ path: string }[]>("GET", "requests?platform=tiktok"))
      .map(({ path }) => path)
      .filter((path) => path.endsWith("/content/init/"));
    expect(inits).toHaveLength(1);
    // What happened is found; what did not happen cannot be told from what comes late.
    const visible = await platform.visible();
    const isThere = visible.length > 0;
    expect(visible.map(({ createCalls }) => createCalls)).toEqual(isThere ? [1] : []);
    expect(status).toBe(isThere ? "published" : "failed");
    expect(task.errorCode).toBe(isThere ? null : "outcome_unknown");
  });

  test("no connection are sent when there is one", { timeout: 30_000 }, async () => {
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
});

describe("a worker that dies", () => {
  test("in the call with a film's last chunk is followed by one that posts it once", async () => {
    const scene = await filmScene();
    await platform.addFault("publish", "delay", { delayMs: 60_000 });
    const dying = start(scene);
    await request(database.sql, scene.target);
    await eventually(async () => (await platform.visible()).length === 1, { timeoutMs: 10_000 });
    await dying.crash();
    await using _next = start(scene);
    expect(await untilEnded(scene)).toBe("published");
    await expectOnce(scene);
    expect(await hits()).toBe(1);
  });

  test("between chunks is followed by one that goes on with the same upload", async () => {
    const scene = await filmScene(LONG);
    await platform.addFault("upload", "delay", { delayMs: 60_000 });
    const dying = start(scene);
    await request(database.sql, scene.target);
    await eventually(async () => (await hits()) === 1, { timeoutMs: 10_000 });
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

  test("after its photos were answered leaves their publish id", async () => {
    const scene = await photoScene();
    await platform.addFault("status", "status", { status: 500, times: 1000 });
    const dying = start(scene);
    await request(database.sql, scene.target);
    await eventually(async () => (await readTask(database.sql, scene.target)).status === "unknown");
    await dying.crash();
    const { publishId } = await readHandles(database.sql, scene.target);
    expect(publishId).toMatch(/^p_pub_url~/);
    await platform.control("DELETE", "faults");
    await using _next = start(scene);
    expect(await untilEnded(scene)).toBe("published");
    await expectOnce(scene);
  });
});

describe("the id of a post that tiktok gives later", () => {
  test("is asked for and told, without touching anything else", async () => {
    const scene = await filmScene();
    await using _worker = start(scene);
    await request(database.sql, scene.target);
    await untilEnded(scene);
    const before = await lastUpdate(database.sql, scene.target);
    expect(before).toMatchObject({ status: "published" });
    expect(before?.externalId).toBeUndefined();
    await using _details = startDetails(scene);
    const after = await eventually(
      async () => {
        const update = await lastUpdate(database.sql, scene.target);
        return update?.externalId !== undefined && update;
      },
      { timeoutMs: 15_000 },
    );
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

  test("is asked for again while tiktok does not answer, and never fails the post", async () => {
    const scene = await filmScene();
    await using _worker = start(scene);
    await request(database.sql, scene.target);
    await untilEnded(scene);
    const known = (await listUpdates(database.sql, scene.target)).length;
    for (const mode of ["drop_before", "garbage_body", "status"])
      await platform.addFault("status", mode);
    await using _details = startDetails(scene);
    await eventually(async () => (await readTask(database.sql, scene.target)).externalId !== null, {
      timeoutMs: 15_000,
    });
    const updates = await listUpdates(database.sql, scene.target);
    expect(updates).toHaveLength(known + 1);
    expect(updates.slice(known).map(({ status }) => status)).toEqual(["published"]);
  });

  test("is not asked for when only the author sees the post, nor for longer than a day", async () => {
    const scene = await filmScene();
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
    await eventually(async () => (await countQuestions(scene)) === 0, { timeoutMs: 15_000 });
    expect(await readTask(database.sql, scene.target)).toMatchObject({
      status: "published",
      externalId: null,
    });
  });
});
