import { pngMedia, TestMedia } from "@postrider/platforms/test/test-media";
import { ServiceError, unavailable } from "@postrider/shared/errors";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { PublishingDeps } from "#src/publishing/operations/dependencies.ts";
import {
  listAttempts,
  listUpdates,
  openDatabase,
  readTask,
  request,
  startWorker,
  World,
  openStage,
} from "./fixture.ts";

type Prepare = PublishingDeps["media"]["prepare"];

const RENDERED = new TestMedia("rendered", "image/jpeg", Buffer.from("rendered"));

/**
 * A media service that prepares files with `prepare`; the original files are those of the fake
 * media service.
 */
function mediaWith(prepare: Prepare): PublishingDeps["media"] {
  return { describe: () => pngMedia(1), prepare };
}

/** A PNG file, a format that TikTok does not accept, in a size that TikTok accepts. */
function createTarget(world: World) {
  return world.addTarget({ platform: "tiktok", media: [pngMedia(1)] });
}

test("a target is published with the converted file that its platform accepts, and searched for with the same file", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = createTarget(world);
  const renditions: unknown[] = [];
  const sent: string[] = [];
  const searched: string[] = [];
  const connector = world.connector();
  const media = mediaWith((items) => {
    renditions.push(...items.map(({ rendition }) => rendition));
    return Promise.resolve(items.map(() => ({ kind: "file", media: RENDERED })));
  });
  await using _worker = startWorker(database, world, {
    media,
    connectors: {
      tiktok: {
        ...connector,
        publish: (publication) => {
          sent.push(...publication.media.map(({ sha256 }) => sha256));
          return Promise.resolve({ kind: "pending", afterMs: 0 });
        },
        reconcile: (publication) => {
          searched.push(...publication.media.map(({ sha256 }) => sha256));
          return Promise.resolve({ kind: "present", externalId: "1", permalink: null });
        },
      },
    },
  });
  await request(database.sql, target);
  await eventually(async () => (await readTask(database.sql, target))?.status === "published");
  expect(sent).toEqual([RENDERED.sha256]);
  expect(searched).toEqual([RENDERED.sha256]);
  const rendition = {
    contentType: "image/jpeg",
    width: 640,
    height: 480,
    fit: "scale",
    maxBytes: 1_228_800,
  };
  expect(renditions).toEqual([rendition, rendition]);
});

test("a target fails with the media service's error message, without a platform call, if its file cannot be converted", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = createTarget(world);
  const message = "The image cannot be decoded to convert it.";
  const media = mediaWith((items) =>
    Promise.resolve(items.map(() => ({ kind: "refused", message }))),
  );
  const connectors = { tiktok: world.connector() };
  await using _worker = startWorker(database, world, { media, connectors });
  await request(database.sql, target);
  await eventually(async () => (await readTask(database.sql, target))?.status === "failed");
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { outcome: "failed", code: "media_rejected" },
  ]);
  const updates = await listUpdates(database.sql, target);
  expect(
    JSON.stringify(updates, (_key, value: unknown) => (typeof value === "bigint" ? 0 : value)),
  ).toContain(message);
  expect(world.calls).toEqual([]);
});

test("a target whose file is not prepared in time is retried with the code media_fetch_failed, and other targets do not wait", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = createTarget(world);
  const text = world.addTarget();
  const slow = Promise.withResolvers<void>();
  let calls = 0;
  const media = mediaWith(async (items) => {
    calls += 1;
    if (calls === 1) {
      await slow.promise;
      throw new ServiceError("timeout", "upstream_timeout");
    }
    return items.map(() => ({ kind: "file", media: RENDERED }));
  });
  const connectors = { tiktok: world.connector(), x: world.connector() };
  await using _worker = startWorker(database, world, { media, connectors });
  await request(database.sql, target, text);
  await eventually(async () => (await readTask(database.sql, text))?.status === "published");
  slow.resolve();
  await eventually(async () => (await readTask(database.sql, target))?.status === "published");
  expect(await listAttempts(database.sql, target)).toMatchObject([
    { number: 1, outcome: "retry", code: "media_fetch_failed" },
    { number: 2, outcome: "published" },
  ]);
});

test("targets wait without using an attempt while the media service does not answer", async () => {
  await using database = await openDatabase();
  const world = new World();
  const target = createTarget(world);
  let calls = 0;
  const media = mediaWith(() => {
    calls += 1;
    return Promise.reject(unavailable());
  });
  const connectors = { tiktok: world.connector() };
  await using _worker = startWorker(database, world, { media, connectors });
  await request(database.sql, target);
  await eventually(
    async () => calls === 1 && (await readTask(database.sql, target))?.status === "queued",
  );
  expect(await readTask(database.sql, target)).toMatchObject({ errorCode: null });
  expect(world.calls).toEqual([]);
});

test("a target whose files cannot be determined fails with internal_error, and neither it nor the other targets of its batch stay in work", async () => {
  await using database = await openStage();
  const { sql, world } = database;
  // The posts service returns the settings "null", which no version of it stores.
  const settings = { toJSON: () => null };
  const broken = world.addTarget({ platform: "tiktok", media: [pngMedia(1)], settings });
  const whole = createTarget(world);
  const media = mediaWith((items) =>
    Promise.resolve(items.map(() => ({ kind: "file", media: RENDERED }))),
  );
  await request(sql, broken, whole);
  await using _worker = startWorker(database, world, {
    media,
    connectors: { tiktok: world.connector() },
  });
  await eventually(async () => (await readTask(sql, whole)).status === "published");
  await eventually(async () => (await readTask(sql, broken)).status === "failed");
  expect(await readTask(sql, broken)).toMatchObject({ errorCode: "internal_error" });
});
