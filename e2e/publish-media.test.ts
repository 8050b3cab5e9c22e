import { sampleJpeg, sampleMp4, samplePng } from "@postrider/local/demo/sample-media";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { upload, type File } from "./support/requests/media.ts";
import {
  create,
  detailsOf,
  HOUR_MS,
  inMs,
  refusalOf,
  whenTargets,
} from "./support/requests/posts.ts";
import { openTenant } from "./support/requests/tenant.ts";
import { useSharedSystem } from "./support/system/system.ts";

const PNG: File = { fileName: "picture.png", contentType: "image/png", bytes: samplePng() };
const JPEG: File = { fileName: "one.jpg", contentType: "image/jpeg", bytes: sampleJpeg() };
const SECOND_JPEG: File = {
  fileName: "two.jpg",
  contentType: "image/jpeg",
  bytes: sampleJpeg({ width: 700, height: 600 }),
};
const VIDEO: File = {
  fileName: "video.mp4",
  contentType: "video/mp4",
  // The video is large enough for every platform, and is uploaded to TikTok in two chunks.
  bytes: sampleMp4({ seconds: 4, width: 368, height: 640 }),
};
const PUBLIC = { tiktok: { privacy: "public" } };

const system = await useSharedSystem();
const tenant = await openTenant(system);

test.each<[string, string, readonly File[], RegExp, object]>([
  ["x", "an image", [PNG], /\/status\//, {}],
  ["x", "a video", [VIDEO], /\/status\//, {}],
  ["instagram", "an image that Instagram fetches", [JPEG], /\/p\//, {}],
  ["instagram", "a video that is pushed", [VIDEO], /\/reel\//, {}],
  ["instagram", "a carousel of both", [JPEG, VIDEO, SECOND_JPEG], /\/p\//, {}],
  ["tiktok", "a video that is pushed", [VIDEO], /\/video\//, PUBLIC],
  ["tiktok", "photos that TikTok fetches", [JPEG, SECOND_JPEG], /\/photo\//, PUBLIC],
])(
  "a post on %s with %s contains the files byte for byte, and the API returns the post's permalink",
  async (...row) => {
    const [platform, content, files, permalink, options] = row;
    const account = await tenant.connect(platform);
    const media = await Promise.all(files.map((file) => upload(tenant.api, file)));
    const mediaIds = media.map(({ id }) => id);
    const post = await create(tenant.api, { content, accountIds: [account], mediaIds, options });
    await whenTargets(tenant.api, post.id, "published");
    const entries = (await tenant.listVisible()).filter(
      (entry) => entry.platform === platform && entry.text === content,
    );
    expect(entries).toMatchObject([{ media: media.map(({ sha256 }) => ({ sha256 })) }]);
    // TikTok returns the id of a post some time after publishing it.
    await eventually(async () => {
      const { targets } = await tenant.api.getPost(post.id);
      expect(targets).toMatchObject([
        { externalId: entries[0]?.id, permalink: expect.stringMatching(permalink) as string },
      ]);
    });
  },
);

test("a TikTok post that only its author can see is published without a post id", async () => {
  const account = await tenant.connect("tiktok");
  const { id: mediaId } = await upload(tenant.api, VIDEO);
  const post = await create(tenant.api, {
    content: "To myself",
    accountIds: [account],
    mediaIds: [mediaId],
    options: { tiktok: { privacy: "private" } },
  });
  const { targets } = await whenTargets(tenant.api, post.id, "published");
  expect(targets).toMatchObject([{ externalId: null, permalink: null, error: null }]);
  expect(await tenant.countVisible("To myself")).toBe(0);
});

test("media that a scheduled post uses cannot be deleted, and the refusal names the post", async () => {
  const account = await tenant.connect("bluesky");
  const { id: mediaId } = await upload(tenant.api, JPEG);
  const { id: postId } = await create(tenant.api, {
    content: "Later",
    accountIds: [account],
    mediaIds: [mediaId],
    scheduledAt: inMs(HOUR_MS),
  });
  const answer = await tenant.api.call("DELETE", `/media/${mediaId}`);
  expect(refusalOf(answer)).toBe("409 media_in_use used_by_post");
  expect(detailsOf(answer)).toMatchObject([{ code: "used_by_post", postId }]);
});

test("the stored description and cover of media reach the readers of each platform that supports them", async () => {
  const platforms = ["x", "instagram", "facebook", "bluesky", "telegram"];
  const accountIds = await Promise.all(platforms.map((platform) => tenant.connect(platform)));
  const [picture, video] = [await upload(tenant.api, JPEG), await upload(tenant.api, VIDEO)];
  const describeMedia = (id: string, body: object) =>
    tenant.api.call<object>("PATCH", `/media/${id}`, { body });
  const altText = "A red boat at the quay 🚤";
  expect(await describeMedia(picture.id, { altText })).toMatchObject({
    status: 200,
    body: { id: picture.id, altText, coverMs: null },
  });
  expect((await describeMedia(video.id, { coverMs: 1500 })).status).toBe(200);
  expect((await describeMedia(video.id, { coverMs: 60_000 })).status).toBe(422);

  const post = await create(tenant.api, { content: "Boat", accountIds, mediaIds: [picture.id] });
  expect((await tenant.api.getPost(post.id)).media).toMatchObject([{ altText, coverMs: null }]);
  const tiktok = await tenant.connect("tiktok");
  const clip = await create(tenant.api, {
    content: "Boat",
    accountIds: [tiktok],
    mediaIds: [video.id],
    options: PUBLIC,
  });
  await whenTargets(tenant.api, post.id, "published");
  await whenTargets(tenant.api, clip.id, "published");
  const shown = (await tenant.listVisible()).filter(({ text }) => text === "Boat");
  const byPlatform = new Map(shown.map(({ platform, media }) => [platform, media]));
  for (const platform of platforms.slice(0, -1))
    expect(byPlatform.get(platform)).toMatchObject([{ sha256: picture.sha256, altText }]);
  expect(byPlatform.get("telegram")).toEqual([{ kind: "image", sha256: picture.sha256 }]);
  expect(byPlatform.get("tiktok")).toMatchObject([{ sha256: video.sha256, coverMs: 1500 }]);
});
