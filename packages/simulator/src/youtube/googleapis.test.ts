import { createHash } from "node:crypto";
import { youtube } from "@googleapis/youtube";
import type { youtube_v3 } from "@googleapis/youtube";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestSimulator, mp4Bytes, textOf } from "#src/testing.ts";
import type { TestAccount } from "#src/testing.ts";
import type { channelView } from "#src/youtube/channels.ts";
import type { commentView, replyView, threadView } from "#src/youtube/comment-view.ts";
import type { itemView } from "#src/youtube/playlist-items.ts";
import type { videoView } from "#src/youtube/video-view.ts";

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

/**
 * Uploads a YouTube video with plain requests, because Google's client does not expose the upload
 * session.
 */
async function upload(bytes: Buffer): Promise<string> {
  const resource: youtube_v3.Schema$Video = {
    snippet: { title: "A video", description: "Words", tags: ["one"], categoryId: "22" },
    status: { privacyStatus: "public", selfDeclaredMadeForKids: false },
  };
  const url = `${simulator.url}/youtube/upload/youtube/v3/videos?uploadType=resumable&part=snippet,status`;
  const authorization = `Bearer ${channel.credentials["accessToken"] ?? ""}`;
  const headers = { authorization, "content-type": "application/json" };
  const started = await fetch(url, { method: "POST", headers, body: JSON.stringify(resource) });
  const session = started.headers.get("location") ?? "";
  const done = await fetch(session, { method: "PUT", body: new Uint8Array(bytes) });
  const video = (await done.json()) as youtube_v3.Schema$Video;
  return video.id ?? "";
}

test("Google's client library reads a channel, its uploads and a video's counters from the simulator, and deletes the video", async () => {
  const bytes = mp4Bytes(1000);
  const id = await upload(bytes);
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
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  expect(await simulator.control("/visible?platform=youtube")).toMatchObject([
    { id, media: [{ kind: "video", sha256 }] },
  ]);
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
