import { createFacebookPublishingConnector } from "@postrider/platforms/facebook/publishing/connector";
import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import { gifMedia, mp4Media, pngMedia, toReel } from "@postrider/platforms/test/test-media";
import { TestPlatform } from "@postrider/platforms/test/test-platform";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { addTargetOf } from "./add-target-of.ts";
import {
  consume,
  lastDeletion,
  openDatabase,
  readTask,
  request,
  startWorker,
  toDeletionRecord,
  World,
} from "./fixture.ts";

const MB = 1024 * 1024;

let platform: TestPlatform;
let facebook: PublishingConnector;

beforeAll(async () => {
  platform = await TestPlatform.start("facebook");
  facebook = createFacebookPublishingConnector({
    baseUrl: platform.url,
    uploadBaseUrl: `${platform.url}/rupload`,
    version: "v25.0",
  });
});
afterAll(() => platform[Symbol.asyncDispose]());
beforeEach(() => platform.reset());

const createPublication = (media: readonly PublicationMedia[], text = "News from the Page") =>
  platform.createPublication(media, text, ({ accessToken }) => accessToken ?? "");

const KINDS: readonly (readonly [string, readonly PublicationMedia[]])[] = [
  ["a text", []],
  ["a photo", [pngMedia(1)]],
  ["several photos", [pngMedia(1), gifMedia(), pngMedia(2)]],
  ["a video", [mp4Media(9 * MB)]],
  ["a reel", [toReel(mp4Media(300_000))]],
];

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
    const kinds = await Promise.all(
      KINDS.map(async ([name, media]) => {
        const publication = await createPublication(media, `${name} ${mode}`);
        return addTargetOf(world, publication, { platform: "facebook", media });
      }),
    );
    await platform.addFault("publish", mode, { ...extra, times: kinds.length });
    await using _worker = startWorker(database, world, { settings, connectors: { facebook } });
    await request(database.sql, ...kinds);
    for (const target of kinds) {
      await eventually(async () => (await readTask(database.sql, target)).status === "published", {
        timeoutMs: 20_000,
      });
      const { externalId } = await readTask(database.sql, target);
      const entries = (await platform.visible()).filter(({ text }) => text === target.text);
      expect(entries).toMatchObject([{ id: externalId }]);
    }
    expect(await platform.visible()).toHaveLength(kinds.length);
  });

  test("that dies in the call is followed by one that finds the post", async () => {
    await using database = await openDatabase();
    const world = new World();
    const publication = await createPublication([pngMedia(1)], "once");
    const { media } = publication;
    const target = addTargetOf(world, publication, { platform: "facebook", media });
    await platform.addFault("publish", "delay", { delayMs: 10_000 });
    const dying = startWorker(database, world, { settings, connectors: { facebook } });
    await request(database.sql, target);
    await eventually(async () => (await platform.visible()).length === 1);
    await dying.crash();
    await using _next = startWorker(database, world, { settings, connectors: { facebook } });
    await eventually(async () => (await readTask(database.sql, target)).status === "published");
    expect(await platform.visible()).toHaveLength(1);
  });

  test("through the core: every kind is published once and deleted, also when its first answer is lost", async () => {
    await using database = await openDatabase();
    const { sql } = database;
    const world = new World();
    await using _worker = startWorker(database, world, {
      connectors: { facebook },
      settings: { reconcileTimeScale: 0.001, visibleCallMs: 500, leaseMs: 2000 },
    });
    for (const [, media] of KINDS) {
      await platform.reset();
      const publication = await createPublication(media);
      const target = addTargetOf(world, publication, { platform: "facebook", media });
      await platform.addFault("publish", "drop_after_commit");
      await request(sql, target);
      await eventually(async () => (await readTask(sql, target)).status === "published", {
        timeoutMs: 20_000,
      });
      const [entry, ...others] = await platform.visible();
      expect(others).toEqual([]);
      const { externalId } = await readTask(sql, target);
      expect(externalId).toBe(entry?.id);
      await consume(sql, [toDeletionRecord(target, externalId ?? "")]);
      await eventually(async () => (await lastDeletion(sql, target)) !== undefined, {
        timeoutMs: 10_000,
      });
      expect(await platform.visible()).toEqual([]);
    }
  }, 90_000);
});
