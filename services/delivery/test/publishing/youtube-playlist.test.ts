import type { Publication } from "@postrider/platforms/publishing/publication";
import { mp4Media, TestMedia } from "@postrider/platforms/test/test-media";
import { startTestPlatform } from "@postrider/platforms/test/test-platform";
import { createYoutubePublishingConnector } from "@postrider/platforms/youtube/publishing/connector";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { startAskForDetails } from "#src/publishing/jobs/ask-for-details.ts";
import { addTargetOf } from "./add-target-of.ts";
import {
  lastUpdate,
  openDatabase,
  publishingDeps,
  readTask,
  request,
  startWorker,
  untilStatus,
  World,
} from "./fixture.ts";

const SHORT = { leaseMs: 300, visibleCallMs: 400, reconcileTimeScale: 0.001 };

const platform = await startTestPlatform("youtube");
const youtube = createYoutubePublishingConnector({ baseUrl: platform.url, processedAfterMs: 0 });
const database = await openDatabase();
afterAll(() => database[Symbol.asyncDispose]());

async function createPublication(media = mp4Media(1000)): Promise<Publication> {
  const made = await platform.createPublication([media], "A video");
  return { ...made, title: "Listed" };
}

/**
 * Publishes a video of a channel whose settings name a playlist or none. When YouTube has processed
 * it, runs the job that completes published targets.
 */
async function publishInto(publication: Publication, playlistId: string | null) {
  const world = new World();
  const given = { platform: "youtube", media: publication.media } as const;
  const target = addTargetOf(world, { ...publication, settings: { playlistId } }, given);
  const options = { settings: SHORT, connectors: { youtube } };
  await using _worker = startWorker(database, world, options);
  await request(database.sql, target);
  await untilStatus(database.sql, target, "published");
  await platform.control("POST", "clock", { advanceMs: 2_000 });
  await using _details = startAskForDetails(publishingDeps(world, database.sql, options));
  await eventually(async () => {
    const left = await database.sql`
      select 1
      from detail_questions
      where target_id = ${target.targetId}`;
    return left.length === 0;
  });
  const { status, externalId, errorCode } = await readTask(database.sql, target);
  return { status, externalId, errorCode, update: await lastUpdate(database.sql, target) };
}

async function listVideos({ accessToken }: Publication, playlistId: string) {
  const url = `${platform.url}/youtube/v3/playlistItems?part=contentDetails&playlistId=${playlistId}`;
  const answer = await fetch(url, { headers: { authorization: `Bearer ${accessToken}` } });
  const { items } = (await answer.json()) as { items: { contentDetails: { videoId: string } }[] };
  return items.map(({ contentDetails }) => contentDetails.videoId);
}

test("a YouTube video is published once and then added once to the playlist that its channel's settings name, even if a call fails", async () => {
  const publication = await createPublication();
  const playlistId = publication.externalId.replace(/^UC/, "PL");
  await platform.addFault("other", "drop_after_commit");
  const { externalId, ...published } = await publishInto(publication, playlistId);
  expect(published).toMatchObject({ status: "published", errorCode: null });
  expect(await listVideos(publication, playlistId)).toEqual([externalId]);
  expect(await platform.visible()).toHaveLength(1);
});

test("a YouTube video whose playlist does not exist stays published, and its target reports why it was not added", async () => {
  const published = await publishInto(await createPublication(), "PL1");
  expect(published).toMatchObject({ status: "published", errorCode: "content_rejected" });
  expect(published.update).toMatchObject({
    status: "published",
    errorCode: "content_rejected",
    errorMessage: expect.stringContaining("PL1") as string,
  });
  expect(await platform.visible()).toHaveLength(1);
});

/** How often YouTube was asked for the state of videos, at one unit of the daily quota each. */
async function countLooks(): Promise<number> {
  const requests = await platform.listRequests();
  return requests.filter(({ method, path }) => method === "GET" && path.endsWith("/videos")).length;
}

test("a published YouTube video that YouTube cannot process gets an error, and a look at a video costs one unit of the daily quota", async () => {
  const video = new TestMedia("broken", "video/mp4", Buffer.from("not a video"));
  const failed = await publishInto(await createPublication(video), null);
  expect(failed).toMatchObject({ status: "published", errorCode: "media_rejected" });
  expect(failed.update).toMatchObject({
    status: "published",
    errorCode: "media_rejected",
    errorMessage: expect.stringContaining("invalidFile") as string,
    errorRetryable: false,
    isLaterUpdate: true,
  });
  expect(await countLooks()).toBe(1);
  const unlisted = await publishInto(await createPublication(video), "PL1");
  expect(unlisted).toMatchObject({ status: "published", errorCode: "media_rejected" });
  expect(await countLooks()).toBe(2);

  const publication = await createPublication();
  const playlistId = publication.externalId.replace(/^UC/, "PL");
  const processed = await publishInto(publication, playlistId);
  expect(processed).toMatchObject({ status: "published", errorCode: null });
  expect(await countLooks()).toBe(3);
});
