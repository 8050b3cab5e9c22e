import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { youtube, type youtube_v3 } from "@googleapis/youtube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type Body, mp4Bytes, type TestAccount, TestSimulator, textOf } from "#src/testing.ts";
import type { commentView, replyView, threadView } from "#src/youtube/comment-view.ts";
import type { channelView, itemView } from "#src/youtube/playlist-items.ts";
import type { videoView } from "#src/youtube/video-list.ts";

/**
 * Names of the properties, at any depth, that the simulator returns but Google's schema of the
 * resource does not have.
 */
type Unknown<View, Schema> = View extends readonly (infer Item)[]
  ? Schema extends readonly (infer Known)[]
    ? Unknown<Item, NonNullable<Known>>
    : "an array"
  : View extends object
    ? {
        [Name in keyof View]-?: Name extends keyof Schema
          ? Unknown<NonNullable<View[Name]>, NonNullable<Schema[Name]>>
          : Name;
      }[keyof View]
    : never;

/**
 * True when a simulated response has only properties of Google's schema. The code does not compile
 * when a property has another type than in the schema.
 */
type Conforms<View extends Schema, Schema> = [Unknown<View, Schema>] extends [never] ? true : false;

const CONFORMING: readonly [
  Conforms<ReturnType<typeof videoView>, youtube_v3.Schema$Video>,
  Conforms<ReturnType<typeof channelView>, youtube_v3.Schema$Channel>,
  Conforms<ReturnType<typeof itemView>, youtube_v3.Schema$PlaylistItem>,
  Conforms<ReturnType<typeof threadView>, youtube_v3.Schema$CommentThread>,
  Conforms<ReturnType<typeof commentView>, youtube_v3.Schema$Comment>,
  Conforms<ReturnType<typeof replyView>, youtube_v3.Schema$Comment>,
] = [true, true, true, true, true, true];

/** These tests use Google's own client to check that the simulator behaves like YouTube. */
let simulator: TestSimulator;
let channel: TestAccount;
let client: youtube_v3.Youtube;
let here: { readonly rootUrl: string };

beforeEach(async () => {
  simulator = await TestSimulator.start();
  channel = await simulator.account("youtube");
  const authorization = `Bearer ${channel.credentials["accessToken"] ?? ""}`;
  client = youtube({ version: "v3", headers: { authorization } });
  // The root URL is passed with each call, because Google's client drops the path of a URL that is
  // set on the client itself.
  here = { rootUrl: `${simulator.url}/youtube/` };
});

afterEach(() => simulator[Symbol.asyncDispose]());

test("every answer of the YouTube simulator conforms to Google's schemas", () => {
  expect(CONFORMING).not.toContain(false);
});

const RESOURCE: youtube_v3.Schema$Video = {
  snippet: { title: "A video", description: "Words", tags: ["one"], categoryId: "22" },
  status: { privacyStatus: "public", selfDeclaredMadeForKids: false },
};

/**
 * Uploads a YouTube video with Google's client, which sends the metadata and the file in one call.
 * The client cannot upload in several calls, because it does not expose the address of an upload
 * session.
 */
async function insert(
  bytes: Buffer,
  requestBody: youtube_v3.Schema$Video = RESOURCE,
  mimeType = "video/mp4",
): Promise<youtube_v3.Schema$Video> {
  const media = { mimeType, body: Readable.from([bytes]) };
  const parameters = { part: ["snippet", "status"], requestBody, media };
  return (await client.videos.insert(parameters, here)).data;
}

async function upload(bytes: Buffer): Promise<string> {
  return (await insert(bytes)).id ?? "";
}

test("Google's client library uploads a video to the simulator with its metadata, reads the video back and deletes it", async () => {
  const bytes = mp4Bytes(300_000);
  const video = await insert(bytes);
  expect(video).toMatchObject({
    snippet: { ...RESOURCE.snippet, channelId: channel.externalId },
    status: { uploadStatus: "uploaded", privacyStatus: "public", madeForKids: false },
  });
  const id = video.id ?? "";
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  expect(await simulator.control("/visible?platform=youtube")).toMatchObject([
    { id, text: "Words", media: [{ kind: "video", sha256 }], createCalls: 1 },
  ]);
  await simulator.control("/clock", { advanceMs: 2000 });
  const read = await client.videos.list({ part: ["snippet", "status"], id: [id] }, here);
  expect(read.data.items).toMatchObject([
    { id, snippet: { title: "A video" }, status: { uploadStatus: "processed" } },
  ]);
  await client.videos.delete({ id }, here);
  expect(await simulator.control("/visible?platform=youtube")).toEqual([]);
});

test("Google's client library uploads a private video to the simulator, and readers do not see the video", async () => {
  const hidden = { ...RESOURCE, status: { privacyStatus: "private" } };
  const { id = "" } = await insert(mp4Bytes(1000), hidden);
  expect(await simulator.control("/visible?platform=youtube")).toEqual([]);
  const own = await client.videos.list({ part: ["status"], id: [id ?? ""] }, here);
  expect(own.data.items).toMatchObject([{ id, status: { privacyStatus: "private" } }]);
});

test("Google's client library reports the reason for which the simulator refuses an upload", async () => {
  const reasonOf = async (upload: Promise<unknown>) => {
    const refused: unknown = await upload.catch((error: unknown) => error);
    const { response } = refused as { response: { status: number; data: Body } };
    return [response.status, response.data["error"]?.["errors"]?.[0]?.["reason"]];
  };
  const untitled = { ...RESOURCE, snippet: { ...RESOURCE.snippet, title: "" } };
  const bytes = mp4Bytes(1000);
  expect([
    await reasonOf(insert(bytes, untitled)),
    await reasonOf(insert(bytes, RESOURCE, "image/png")),
    await reasonOf(insert(Buffer.of())),
  ]).toEqual([
    [400, "invalidTitle"],
    [400, "badContent"],
    [400, "mediaBodyRequired"],
  ]);
  expect(await simulator.control("/visible?platform=youtube")).toEqual([]);
});

test("Google's client library reads a channel, its uploads and a video's counters from the simulator, and deletes the video", async () => {
  const id = await upload(mp4Bytes(1000));
  const channels = await client.channels.list(
    { part: ["snippet", "contentDetails"], mine: true },
    here,
  );
  const playlistId = channels.data.items?.[0]?.contentDetails?.relatedPlaylists?.uploads ?? "";
  const items = await client.playlistItems.list(
    { part: ["snippet", "contentDetails"], playlistId, maxResults: 50 },
    here,
  );
  expect(items.data.items?.map((item) => item.contentDetails?.videoId)).toEqual([id]);
  const videos = await client.videos.list({ part: ["status", "statistics"], id: [id] }, here);
  expect(videos.data.items?.[0]).toMatchObject({
    status: { uploadStatus: "uploaded", privacyStatus: "public" },
    statistics: { viewCount: "0", likeCount: "0", commentCount: "0" },
  });
  expect((await client.videos.delete({ id }, here)).status).toBe(204);
  await expect(client.videos.delete({ id }, here)).rejects.toMatchObject({ status: 404 });
});

test("Google's client library reads, replies to and hides comments on the simulated YouTube", async () => {
  const videoId = await upload(mp4Bytes(1000));
  const account = channel.externalId;
  const comment = { platform: "youtube", account, mediaId: videoId, author: "ann", text: "Nice" };
  const id = textOf((await simulator.control("/comments", comment))["id"]);
  const reply = { snippet: { parentId: id, textOriginal: "Thanks" } };
  await client.comments.insert({ part: ["snippet"], requestBody: reply }, here);
  const list = async () =>
    (await client.commentThreads.list({ part: ["snippet", "replies"], videoId }, here)).data
      .items ?? [];
  const [thread] = await list();
  expect(thread?.snippet?.topLevelComment?.snippet?.textOriginal).toBe("Nice");
  expect(thread?.replies?.comments?.[0]?.snippet?.textOriginal).toBe("Thanks");
  await client.comments.setModerationStatus({ id: [id], moderationStatus: "heldForReview" }, here);
  expect(await list()).toEqual([]);
});
