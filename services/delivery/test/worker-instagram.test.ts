import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import { instagramAt } from "@postrider/platforms/test/instagram/instagram-at";
import { jpegMedia, MediaServer } from "@postrider/platforms/test/media-server";
import type { TestMedia } from "@postrider/platforms/test/test-media";
import { TestPlatform } from "@postrider/platforms/test/test-platform";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addTargetOf } from "./add-target-of.ts";
import {
  consume,
  lastDeletion,
  lastUpdate,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  World,
} from "./fixture.ts";

let platform: TestPlatform;
let files: MediaServer;
let instagram: PublishingConnector;

beforeAll(async () => {
  platform = await TestPlatform.start("instagram");
  files = await MediaServer.start();
  instagram = instagramAt(platform.url);
});
afterAll(async () => {
  await platform[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
});
beforeEach(() => platform.reset());

const createPublication = (media: readonly TestMedia[], text: string) =>
  platform.createPublication(
    media.map((one) => files.serve(one)),
    text,
    ({ accessToken }) => accessToken ?? "",
  );

describe("a worker", () => {
  const settings = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.002 };

  test.each([
    ["drop_before", {}],
    ["drop_after_commit", {}],
    ["commit_late", { delayMs: 500 }],
    ["delay", { delayMs: 3000 }],
    ["garbage_body", {}],
    ["status_after_commit", { status: 429 }],
  ])("whose visible call met %s ends with one post", async (mode, extra) => {
    await using database = await openDatabase();
    const world = new World();
    const media = [jpegMedia(1), jpegMedia(2)];
    const publication = await createPublication(media, mode);
    const target = addTargetOf(world, publication, {
      platform: "instagram",
      media: publication.media,
    });
    await platform.addFault("publish", mode, extra);
    await using _worker = startWorker(database, world, { settings, connectors: { instagram } });
    await request(database.sql, target);
    await eventually(async () => (await readTask(database.sql, target)).status === "published");
    const [entry, ...others] = await platform.visible();
    expect(others).toEqual([]);
    expect(await lastUpdate(database.sql, target)).toMatchObject({ externalId: entry?.id });
  });

  test("that dies in the call is followed by one that finds the post, and deletes it when asked", async () => {
    await using database = await openDatabase();
    const world = new World();
    const publication = await createPublication([jpegMedia(1)], "once");
    const target = addTargetOf(world, publication, {
      platform: "instagram",
      media: publication.media,
    });
    await platform.addFault("publish", "delay", { delayMs: 10_000 });
    const dying = startWorker(database, world, { settings, connectors: { instagram } });
    await request(database.sql, target);
    await eventually(async () => (await platform.visible()).length === 1);
    await dying.crash();
    await using _next = startWorker(database, world, { settings, connectors: { instagram } });
    await eventually(async () => (await readTask(database.sql, target)).status === "published");
    expect(await platform.visible()).toHaveLength(1);
    const { externalId } = await readTask(database.sql, target);
    await consume(database.sql, [toDeletionRecord(target, externalId ?? "")]);
    await eventually(async () => (await lastDeletion(database.sql, target)) !== undefined);
    expect(await platform.visible()).toEqual([]);
  });
});
