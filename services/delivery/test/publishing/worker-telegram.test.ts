import type { Publication } from "@postrider/platforms/publishing/publication";
import { createTelegramPublishingConnector } from "@postrider/platforms/telegram/publishing/connector";
import { mp4Media, pngMedia } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
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
  untilStatus,
} from "./fixture.ts";

const platform = await startTestPlatform("telegram");
const telegram = createTelegramPublishingConnector({ baseUrl: platform.url });

const createPublication = (media: Publication["media"], text = "with media") =>
  platform.createPublication(media, text);

async function listMethods(): Promise<readonly string[]> {
  return (await platform.calls()).map((call) => call.replace("POST ", ""));
}

test("a Telegram album whose publishing call gets no answer is sent once and fails with outcome_unknown", async () => {
  await using database = await openDatabase();
  const world = new World();
  const media = [pngMedia(1), mp4Media(200_000)];
  const publication = await createPublication(media, "once");
  const target = addTargetOf(world, publication, { platform: "telegram", media });
  await platform.addFault("publish", "drop_after_commit");
  await using _worker = startWorker(database, world, { connectors: { telegram } });
  await request(database.sql, target);
  await untilStatus(database.sql, target, "failed");
  expect(await lastUpdate(database.sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
  expect(await platform.visible()).toMatchObject([{ text: "once", createCalls: 1 }]);
  expect(await listMethods()).toEqual(["sendMediaGroup"]);
});

test("a Telegram video is not sent again after its worker dies in the publishing call", async () => {
  await using database = await openDatabase();
  const world = new World();
  const media = [mp4Media(200_000)];
  const publication = await createPublication(media, "once");
  const target = addTargetOf(world, publication, { platform: "telegram", media });
  const settings = { leaseMs: 200, visibleCallMs: 300 };
  await platform.addFault("publish", "delay", { delayMs: 10_000 });
  const dying = startWorker(database, world, { settings, connectors: { telegram } });
  await request(database.sql, target);
  await eventually(async () => (await platform.visible()).length === 1);
  await dying.crash();
  await using _next = startWorker(database, world, { settings, connectors: { telegram } });
  await untilStatus(database.sql, target, "failed");
  expect(await readTask(database.sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
  expect(await listMethods()).toEqual(["sendVideo"]);
});

test("the deletion of a Telegram album deletes all its messages", async () => {
  await using database = await openDatabase();
  const world = new World();
  const media = [pngMedia(1), pngMedia(2), pngMedia(3)];
  const publication = await createPublication(media);
  const target = addTargetOf(world, publication, { platform: "telegram", media });
  await using _worker = startWorker(database, world, { connectors: { telegram } });
  await request(database.sql, target);
  await untilStatus(database.sql, target, "published");
  const { externalId } = await readTask(database.sql, target);
  expect((await platform.visible()).map(({ id }) => id)).toEqual([externalId]);
  await consume(database.sql, [toDeletionRecord(target, externalId ?? "")]);
  await eventually(async () => (await lastDeletion(database.sql, target)) !== undefined);
  await eventually(async () => (await platform.visible()).length === 0);
});
