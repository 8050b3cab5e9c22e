import { createBlueskyPublishingConnector } from "@postrider/platforms/bluesky/publishing/connector";
import type { Publication } from "@postrider/platforms/publishing/publication";
import { mp4Media, pngMedia, type TestMedia } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { addTargetOf } from "./add-target-of.ts";
import { openDatabase, readTask, request, startWorker, World, untilStatus } from "./fixture.ts";

const platform = await startTestPlatform("bluesky");
const bluesky = createBlueskyPublishingConnector({
  baseUrl: platform.url,
  videoBaseUrl: platform.url,
});

const createPublication = (media: Publication["media"], text: string) =>
  platform.createPublication(media, text);
const shown = (media: TestMedia, kind: string) => ({ kind, sha256: media.sha256 });

/** Returns the calls that reached Bluesky after the session was created, in order. */
async function listCalls(): Promise<readonly string[]> {
  return (await platform.calls()).slice(1).map((call) => call.split(" ").at(-1) ?? "");
}

test.each(["drop_after_commit", "drop_before", "status_after_commit"])(
  "a Bluesky post is published once with its media after its publishing call to the simulated Bluesky meets the fault %s",
  async (mode) => {
    await using database = await openDatabase();
    const world = new World();
    const media = [pngMedia(1), pngMedia(2)];
    const publication = await createPublication(media, `once after ${mode}`);
    const target = addTargetOf(world, publication, { platform: "bluesky", media });
    await platform.addFault("publish", mode);
    const settings = { visibleCallMs: 300 };
    await using _worker = startWorker(database, world, { settings, connectors: { bluesky } });
    await request(database.sql, target);
    await untilStatus(database.sql, target, "published");
    const { externalId } = await readTask(database.sql, target);
    expect(await platform.visible()).toMatchObject([
      { id: externalId, media: media.map((one) => shown(one, "image")) },
    ]);
    expect((await listCalls()).filter((call) => call === "uploadBlob")).toHaveLength(2);
  },
);

test("a Bluesky video is uploaded once when its worker dies while Bluesky processes the video", async () => {
  await using database = await openDatabase();
  const world = new World();
  const media = [mp4Media(100_000)];
  const publication = await createPublication(media, "one video");
  const target = addTargetOf(world, publication, { platform: "bluesky", media });
  const settings = { leaseMs: 200, visibleCallMs: 600 };
  const dying = startWorker(database, world, { settings, connectors: { bluesky } });
  await request(database.sql, target);
  await eventually(
    async () =>
      (await database.sql`select 1 from publish_tasks where handles is not null`).length === 1,
  );
  await dying.crash();
  await platform.control("POST", "clock", { advanceMs: 2000 });
  await using _next = startWorker(database, world, { settings, connectors: { bluesky } });
  await untilStatus(database.sql, target, "published");
  expect(await platform.visible()).toMatchObject([
    { media: media.map((one) => shown(one, "video")) },
  ]);
  expect((await listCalls()).filter((call) => call === "uploadVideo")).toHaveLength(1);
});
