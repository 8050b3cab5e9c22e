import type { PublicationMedia } from "@postrider/platforms/publishing/publication";
import { facebookAt } from "@postrider/platforms/test/facebook/facebook-at";
import { KINDS } from "@postrider/platforms/test/facebook/post-kinds";
import { pngMedia } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
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
  untilStatus,
  openStage,
} from "./fixture.ts";

const platform = await startTestPlatform("facebook");
const facebook = facebookAt(platform.url);

const createPublication = (media: readonly PublicationMedia[], text = "Greetings from the Page") =>
  platform.createPublication(media, text);

const settings = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.002 };

// The fault matrix tests further faults of the publishing calls of Facebook.
test("a Facebook post is published once after its worker dies in the publishing call", async () => {
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
  await untilStatus(database.sql, target, "published");
  expect(await platform.visible()).toHaveLength(1);
});

test("every kind of Facebook post is published once after the first answer of Facebook is lost, and deleted on request", async () => {
  await using database = await openStage();
  const { sql, world } = database;
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
    await untilStatus(sql, target, "published");
    const [entry, ...others] = await platform.visible();
    expect(others).toEqual([]);
    const { externalId } = await readTask(sql, target);
    expect(externalId).toBe(entry?.id);
    await consume(sql, [toDeletionRecord(target, externalId ?? "")]);
    await eventually(async () => (await lastDeletion(sql, target)) !== undefined);
    expect(await platform.visible()).toEqual([]);
  }
}, 90_000);
