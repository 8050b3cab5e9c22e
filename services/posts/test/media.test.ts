import type { MessageInitShape } from "@bufbuild/protobuf";
import type { MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { newId } from "@postrider/shared/ids";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { startPosts, type Posts } from "./fixture.ts";
import { inHours, storyOf } from "./story.ts";

/** How far the clock that posts reads is behind: how long the process stood still after it read it. */
let behindMs: number[] = [];
let onClock = (): void => {};
let posts: Posts;
beforeAll(async () => {
  posts = await startPosts({
    clock: async () => {
      onClock();
      const [row] = await posts.sql<{ now: Date }[]>`select clock_timestamp() as now`;
      return new Date((row?.now.getTime() ?? 0) - (behindMs.shift() ?? 0));
    },
  });
});
afterAll(() => posts[Symbol.asyncDispose]());
beforeEach(() => {
  behindMs = [];
  onClock = () => {};
  posts.neighbours.onUse = async () => undefined;
  posts.neighbours.mediaIsUp = true;
});

const MINUTES = 60_000;

function storyWithMedia() {
  const story = storyOf(posts);
  const { workspaceId } = story;
  const { used, released } = posts.neighbours;
  return {
    ...story,
    add: (change: MessageInitShape<typeof MediaSchema> = {}) =>
      posts.neighbours.addMedia(workspaceId, change),
    used: () => used.filter((use) => use.workspaceId === workspaceId),
    released: () => released.filter((use) => use.workspaceId === workspaceId),
    refused: async (promise: Promise<unknown>, ...codes: string[]) => {
      await expect(promise).rejects.toMatchObject({
        reason: "validation_failed",
        violations: codes.map((code) => ({ code, path: "/mediaIds/0" })),
      });
    },
  };
}

test("media are claimed before a post with them is created", async () => {
  const story = storyWithMedia();
  const mediaIds = [story.add(), story.add()];
  const wasThere: number[] = [];
  posts.neighbours.onUse = async () => {
    const postId = story.used().at(-1)?.postId ?? "";
    wasThere.push((await posts.sql`select 1 from posts where id = ${postId}`).length);
  };
  const post = await story.create({ mediaIds });
  expect(story.used()).toMatchObject([{ postId: post.id, postVersion: 1n, ids: mediaIds }]);
  expect(wasThere).toEqual([0]);
  expect(story.released()).toEqual([]);
});

test("media are claimed for the version that an update or publishing creates", async () => {
  const story = storyWithMedia();
  const post = await story.draft({ mediaIds: [story.add()] });
  const ids = [story.add()];
  const changed = await posts.posts.updatePost({ ...story.ref(post), mediaIds: { values: ids } });
  const published = await posts.posts.publishPost({ ...story.ref(post) });
  expect(story.used().slice(1)).toMatchObject([
    { postId: post.id, postVersion: changed.post?.version, ids },
    { postId: post.id, postVersion: published.post?.version, ids },
  ]);
});

test("media are not claimed for a post that is only validated", async () => {
  const story = storyWithMedia();
  const accountIds = [story.connect()];
  const { workspaceId } = story;
  await posts.posts.validatePost({ workspaceId, accountIds, mediaIds: [story.add()] });
  await story.create();
  expect(story.used()).toEqual([]);
});

test("an update that removes media releases their use up to the new version", async () => {
  const story = storyWithMedia();
  const [kept, removed] = [story.add(), story.add()];
  const post = await story.scheduled({ mediaIds: [kept, removed] });
  const ref = { ...story.ref(post), mediaIds: { values: [kept] } };
  const { post: changed } = await posts.posts.updatePost(ref);
  expect(story.released()).toMatchObject([
    { postId: post.id, mediaId: removed, postVersion: changed?.version },
  ]);
});

test("deleting a scheduled post releases the use of its media for all versions", async () => {
  const story = storyWithMedia();
  const mediaIds = [story.add(), story.add()];
  const post = await story.scheduled({ mediaIds });
  await posts.posts.deletePost(story.ref(post));
  expect(story.released()).toMatchObject(mediaIds.map((mediaId) => ({ mediaId, postId: post.id })));
  expect(story.released().every((use) => use.postVersion === undefined)).toBe(true);
});

test("a cancelled post keeps the use of its media", async () => {
  const story = storyWithMedia();
  const post = await story.create({ mediaIds: [story.add()] });
  await posts.posts.deletePost(story.ref(post));
  expect((await story.reread(post)).status).toBe("cancelled");
  expect(story.released()).toEqual([]);
});

test("updating and deleting a post succeed while the media service is unavailable", async () => {
  const story = storyWithMedia();
  const post = await story.draft({ mediaIds: [story.add()] });
  posts.neighbours.mediaIsUp = false;
  await posts.posts.updatePost({ ...story.ref(post), mediaIds: { values: [] } });
  await posts.posts.deletePost(story.ref(post));
});

test.each(["violations", "duplicates", "quota"])("when a post is refused for %s", async (why) => {
  const story = storyWithMedia();
  const accountIds = [story.connect()];
  const mediaIds = [story.add()];
  const content = why === "violations" ? "x".repeat(1000) : "hello";
  if (why === "duplicates") await story.create({ accountIds, mediaIds });
  if (why === "quota") posts.neighbours.limits.set(story.workspaceId, { monthlyQuota: 0 });
  await expect(story.create({ accountIds, mediaIds, content })).rejects.toThrow(/./);
  const claim = story.used().at(-1);
  expect(story.released()).toMatchObject([
    { mediaId: mediaIds[0], postId: claim?.postId, claimId: claim?.claimId },
  ]);
});

test("the claim on media is released when an update is refused", async () => {
  const story = storyWithMedia();
  const post = await story.scheduled();
  const mediaIds = { values: [story.add(), newId()] };
  const refused = posts.posts.updatePost({ ...story.ref(post), mediaIds });
  await expect(refused).rejects.toMatchObject({ reason: "validation_failed" });
  const claimId = story.used().at(-1)?.claimId;
  expect(story.released()).toMatchObject(
    mediaIds.values.map((mediaId) => ({ mediaId, postId: post.id, claimId })),
  );
});

test("the claim on media is released when the request is a replay", async () => {
  const story = storyWithMedia();
  const request = {
    accountIds: [story.connect()],
    mediaIds: [story.add()],
    idempotency: { key: "key", fingerprint: "same" },
  };
  const first = await story.create(request);
  expect(story.released()).toEqual([]);
  expect((await story.create(request)).id).toBe(first.id);
  const claim = story.used().at(-1);
  expect(claim?.postId).not.toBe(first.id);
  expect(story.released()).toMatchObject([{ postId: claim?.postId, claimId: claim?.claimId }]);
});

test("a process that was suspended after claiming media claims them again before it creates the post", async () => {
  const story = storyWithMedia();
  behindMs = [6 * MINUTES];
  const post = await story.create({ mediaIds: [story.add()] });
  expect(story.used().map(({ postId }) => postId)).toEqual([post.id, post.id]);
  expect(new Set(story.used().map(({ claimId }) => claimId)).size).toBe(1);
});

test("a process that is suspended in every round creates no post", async () => {
  const story = storyWithMedia();
  behindMs = [6 * MINUTES, 6 * MINUTES];
  const mediaIds = [story.add()];
  const accountIds = [story.connect()];
  const idempotency = { key: "key", fingerprint: "same" };
  await expect(story.create({ accountIds, mediaIds, idempotency })).rejects.toMatchObject({
    kind: "unavailable",
  });
  expect((await posts.posts.listPosts({ ...story, limit: 1 })).posts).toEqual([]);
  expect(story.released()).toHaveLength(1);
  expect((await story.create({ accountIds, mediaIds, idempotency })).status).toBe("publishing");
});

test("a process that was suspended after claiming media claims them again before it updates or publishes a post", async () => {
  const story = storyWithMedia();
  const post = await story.draft({ mediaIds: [story.add()] });
  behindMs = [6 * MINUTES];
  const mediaIds = { values: [story.add()] };
  await posts.posts.updatePost({ ...story.ref(post), mediaIds });
  behindMs = [6 * MINUTES];
  await posts.posts.publishPost(story.ref(post));
  expect(story.used()).toHaveLength(5);
});

test("the database clock is read before media are claimed", async () => {
  const story = storyWithMedia();
  const order: string[] = [];
  onClock = () => order.push("clock read");
  posts.neighbours.onUse = async () => order.push("use noted");
  await story.create({ mediaIds: [story.add()] });
  expect(order).toEqual(["clock read", "use noted"]);
});

test("a process that was suspended creates a post without media", async () => {
  const story = storyWithMedia();
  behindMs = [6 * MINUTES];
  expect((await story.create()).status).toBe("publishing");
  expect(behindMs).toEqual([]);
});

test("media that are not ready cannot be published", async () => {
  const story = storyWithMedia();
  for (const status of ["pending", "rejected"]) {
    const mediaIds = [story.add({ status })];
    await story.refused(story.create({ mediaIds }), "media_not_ready");
  }
  const draft = await story.draft({ mediaIds: [story.add({ status: "pending" })] });
  await story.refused(posts.posts.publishPost(story.ref(draft)), "media_not_ready");
});

test("media of another workspace and media that are being deleted are unknown, even to a draft", async () => {
  const story = storyWithMedia();
  const foreign = storyWithMedia().add();
  const deleting = story.add({ status: "deleting" });
  for (const id of [foreign, deleting, newId()]) {
    const mediaIds = [id];
    await story.refused(story.create({ mediaIds }), "unknown_media");
    await story.refused(story.draft({ mediaIds }), "unknown_media");
    const accountIds = [story.connect()];
    const { workspaceId } = story;
    const validated = posts.posts.validatePost({ workspaceId, accountIds, mediaIds });
    await story.refused(validated, "unknown_media");
  }
});

const video = { kind: "video", contentType: "video/mp4" };
test.each([
  { code: "media_too_large", platform: "bluesky", media: { bytes: 2_000_001n } },
  { code: "media_type_unsupported", platform: "x", media: { contentType: "image/tiff" } },
  { code: "media_dimensions", platform: "telegram", media: { width: 9_000, height: 2_000 } },
  { code: "media_duration", platform: "x", media: { ...video, durationMs: 900_000n } },
])(
  "media beyond the rules of $platform are refused with $code",
  async ({ code, platform, media }) => {
    const story = storyWithMedia();
    const { workspaceId } = story;
    const request = { workspaceId, accountIds: [story.connect(platform)] };
    const validate = (id: string) => posts.posts.validatePost({ ...request, mediaIds: [id] });
    await story.refused(validate(story.add(media)), code);
    await validate(story.add());
    await validate(story.add({ ...video, durationMs: 10_000n }));
  },
);

test("media are checked by the size of the file that platforms receive", async () => {
  const story = storyWithMedia();
  const { workspaceId } = story;
  const request = { workspaceId, accountIds: [story.connect("bluesky")] };
  const smaller = story.add({ bytes: 2_100_000n, deliveryBytes: 1_900_000n });
  const larger = story.add({ bytes: 1_900_000n, deliveryBytes: 2_100_000n });
  await posts.posts.validatePost({ ...request, mediaIds: [smaller] });
  const refused = posts.posts.validatePost({ ...request, mediaIds: [larger] });
  await story.refused(refused, "media_too_large");
});

test("BatchGetMediaUses returns posts in every status with their version", async () => {
  const story = storyWithMedia();
  const mediaId = story.add();
  const mediaIds = [mediaId];
  const draft = await story.draft({ mediaIds });
  const scheduled = await story.scheduled({ mediaIds, scheduledAt: inHours(1) });
  const publishing = await story.create({ mediaIds });
  const cancelled = await story.create({ mediaIds });
  await posts.posts.deletePost(story.ref(cancelled));
  const without = await story.draft();
  const deleted = await story.draft({ mediaIds });
  await posts.posts.deletePost(story.ref(deleted));
  const foreign = await storyWithMedia().draft();
  const all = [draft, scheduled, publishing, cancelled, without, deleted, foreign];
  const answer = await posts.mediaUses.batchGetMediaUses({
    workspaceId: story.workspaceId,
    mediaId,
    postIds: [...all.map(({ id }) => id), newId()],
  });
  const known = new Map(answer.uses.map(({ postId, uses, version }) => [postId, [uses, version]]));
  expect(all.map(({ id }) => known.get(id))).toEqual([
    [true, 1n],
    [true, 1n],
    [true, 1n],
    [true, 2n],
    [false, 1n],
    undefined,
    undefined,
  ]);
  expect(known.size).toBe(5);
});

test("BatchGetMediaUses rejects more than 500 posts and malformed ids", async () => {
  const request = { workspaceId: newId(), mediaId: newId() };
  const ids = (count: number) => Array.from({ length: count }, newId);
  const ask = (postIds: string[]) => posts.mediaUses.batchGetMediaUses({ ...request, postIds });
  expect((await ask(ids(500))).uses).toEqual([]);
  await expect(ask(ids(501))).rejects.toMatchObject({ kind: "invalid" });
  await expect(ask(["no id"])).rejects.toMatchObject({ kind: "invalid" });
});
