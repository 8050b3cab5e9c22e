import { instagramAt } from "@postrider/platforms/test/instagram/instagram-at";
import { jpegMedia, startMediaServer } from "@postrider/platforms/test/media-server";
import type { TestMedia } from "@postrider/platforms/test/test-media";
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
} from "./fixture.ts";

const platform = await startTestPlatform("instagram");
const files = await startMediaServer();
const instagram = instagramAt(platform.url);

const createPublication = (media: readonly TestMedia[], text: string) =>
  platform.createPublication(
    media.map((one) => files.serve(one)),
    text,
  );

const settings = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.002 };

// The fault matrix tests further faults of the publishing calls of Instagram.
test("an Instagram post is published once after its worker dies in the publishing call, and deleted on request", async () => {
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
  await untilStatus(database.sql, target, "published");
  expect(await platform.visible()).toHaveLength(1);
  const { externalId } = await readTask(database.sql, target);
  await consume(database.sql, [toDeletionRecord(target, externalId ?? "")]);
  await eventually(async () => (await lastDeletion(database.sql, target)) !== undefined);
  expect(await platform.visible()).toEqual([]);
});
