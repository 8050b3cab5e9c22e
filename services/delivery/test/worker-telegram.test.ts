import type { PublishingConnector } from "@postrider/platforms/publishing/connector";
import type { Publication } from "@postrider/platforms/publishing/publication";
import { createTelegramPublishingConnector } from "@postrider/platforms/telegram/publishing/connector";
import { mp4Media, pngMedia } from "@postrider/platforms/test/test-media";
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
let telegram: PublishingConnector;

beforeAll(async () => {
  platform = await TestPlatform.start("telegram");
  telegram = createTelegramPublishingConnector({ baseUrl: platform.url });
});
afterAll(() => platform[Symbol.asyncDispose]());
beforeEach(() => platform.reset());

const createPublication = (media: Publication["media"], text = "with media") =>
  platform.createPublication(media, text, ({ botToken }) => botToken ?? "");

async function listMethods(): Promise<readonly string[]> {
  return (await platform.calls()).map((call) => call.replace("POST ", ""));
}

describe("a worker", () => {
  test("whose album got no answer sends it once, and asks a person", async () => {
    await using database = await openDatabase();
    const world = new World();
    const media = [pngMedia(1), mp4Media(200_000)];
    const publication = await createPublication(media, "once");
    const target = addTargetOf(world, publication, { platform: "telegram", media });
    await platform.addFault("publish", "drop_after_commit");
    await using _worker = startWorker(database, world, { connectors: { telegram } });
    await request(database.sql, target);
    await eventually(async () => (await readTask(database.sql, target)).status === "failed");
    expect(await lastUpdate(database.sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
    expect(await platform.visible()).toMatchObject([{ text: "once", createCalls: 1 }]);
    expect(await listMethods()).toEqual(["sendMediaGroup"]);
  });

  test("that dies in the call with a film is followed by one that does not send again", async () => {
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
    await eventually(async () => (await readTask(database.sql, target)).status === "failed");
    expect(await readTask(database.sql, target)).toMatchObject({ errorCode: "outcome_unknown" });
    expect(await listMethods()).toEqual(["sendVideo"]);
  });

  test("deletes the whole of an album that it published", async () => {
    await using database = await openDatabase();
    const world = new World();
    const media = [pngMedia(1), pngMedia(2), pngMedia(3)];
    const publication = await createPublication(media);
    const target = addTargetOf(world, publication, { platform: "telegram", media });
    await using _worker = startWorker(database, world, { connectors: { telegram } });
    await request(database.sql, target);
    await eventually(async () => (await readTask(database.sql, target)).status === "published");
    const { externalId } = await readTask(database.sql, target);
    expect((await platform.visible()).map(({ id }) => id)).toEqual([externalId]);
    await consume(database.sql, [toDeletionRecord(target, externalId ?? "")]);
    await eventually(async () => (await lastDeletion(database.sql, target)) !== undefined);
    await eventually(async () => (await platform.visible()).length === 0);
  });
});
