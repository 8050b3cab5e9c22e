import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { VideoFactsSchema, type MediaSchema } from "@postrider/contracts/media/v1/media_pb";
import { newId } from "@postrider/shared/ids";
import { afterAll, beforeEach, expect, test } from "vitest";
import { startPosts } from "./fixture.ts";
import { inHours, workspaceOf } from "./workspace.ts";

/**
 * Milliseconds by which each reading of the database's clock is behind, as if the process was
 * suspended for this time after the reading.
 */
let behindMs: number[] = [];
let onClock = (): void => {};
const posts = await startPosts({
  clock: async () => {
    onClock();
    const [row] = await posts.sql<{ now: Date }[]>`select clock_timestamp() as now`;
    return new Date((row?.now.getTime() ?? 0) - (behindMs.shift() ?? 0));
  },
});
afterAll(() => posts[Symbol.asyncDispose]());
beforeEach(() => {
  behindMs = [];
  onClock = () => {};
  posts.peers.onUse = async () => undefined;
  posts.peers.mediaIsUp = true;
});

const MINUTES = 60_000;

function workspaceWithMedia() {
  const workspace = workspaceOf(posts);
  const { workspaceId } = workspace;
  const { used, released } = posts.peers;
  return {
    ...workspace,
    add: (change: MessageInitShape<typeof MediaSchema> = {}) =>
      posts.peers.addMedia(workspaceId, change),
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

test("CreatePost claims the media of a post, so that the media service does not delete them, before it stores the post", async () => {
  const workspace = workspaceWithMedia();
  const mediaIds = [workspace.add(), workspace.add()];
  const wasThere: number[] = [];
  posts.peers.onUse = async () => {
    const postId = workspace.used().at(-1)?.postId ?? "";
    wasThere.push((await posts.sql`select 1 from posts where id = ${postId}`).length);
  };
  const post = await workspace.create({ mediaIds });
  expect(workspace.used()).toMatchObject([{ postId: post.id, postVersion: 1n, ids: mediaIds }]);
  expect(wasThere).toEqual([0]);
  expect(workspace.released()).toEqual([]);
});

test("UpdatePost and PublishPost claim media for the post version that they create", async () => {
  const workspace = workspaceWithMedia();
  const post = await workspace.draft({ mediaIds: [workspace.add()] });
  const ids = [workspace.add()];
  const changed = await posts.posts.updatePost({
    ...workspace.ref(post),
    mediaIds: { values: ids },
  });
  const published = await posts.posts.publishPost({ ...workspace.ref(post) });
  expect(workspace.used().slice(1)).toMatchObject([
    { postId: post.id, postVersion: changed.post?.version, ids },
    { postId: post.id, postVersion: published.post?.version, ids },
  ]);
});

test("ValidatePost, which stores no post, does not claim the media of the post", async () => {
  const workspace = workspaceWithMedia();
  const accountIds = [workspace.connect()];
  const { workspaceId } = workspace;
  await posts.posts.validatePost({ workspaceId, accountIds, mediaIds: [workspace.add()] });
  await workspace.create();
  expect(workspace.used()).toEqual([]);
});

test("an update that removes media from a post releases the usages of these media by all post versions up to the new version", async () => {
  const workspace = workspaceWithMedia();
  const [kept, removed] = [workspace.add(), workspace.add()];
  const post = await workspace.scheduled({ mediaIds: [kept, removed] });
  const ref = { ...workspace.ref(post), mediaIds: { values: [kept] } };
  const { post: changed } = await posts.posts.updatePost(ref);
  expect(workspace.released()).toMatchObject([
    { postId: post.id, mediaId: removed, postVersion: changed?.version },
  ]);
});

test("deleting a scheduled post releases the usages of its media by all post versions", async () => {
  const workspace = workspaceWithMedia();
  const mediaIds = [workspace.add(), workspace.add()];
  const post = await workspace.scheduled({ mediaIds });
  await posts.posts.deletePost(workspace.ref(post));
  expect(workspace.released()).toMatchObject(
    mediaIds.map((mediaId) => ({ mediaId, postId: post.id })),
  );
  expect(workspace.released().every((use) => use.postVersion === undefined)).toBe(true);
});

test("a cancelled post keeps using its media", async () => {
  const workspace = workspaceWithMedia();
  const post = await workspace.create({ mediaIds: [workspace.add()] });
  await posts.posts.deletePost(workspace.ref(post));
  expect((await workspace.reread(post)).status).toBe("cancelled");
  expect(workspace.released()).toEqual([]);
});

test("posts without media are checked and accepted while the media service is unavailable, and posts with media are not", async () => {
  const workspace = workspaceWithMedia();
  const accountIds = [workspace.connect()];
  const mediaIds = [workspace.add()];
  const { workspaceId } = workspace;
  posts.peers.mediaIsUp = false;
  await posts.posts.validatePost({ workspaceId, accountIds, content: "checked" });
  expect(await workspace.create({ accountIds })).toMatchObject({ status: "publishing" });
  await expect(workspace.create({ accountIds, mediaIds })).rejects.toMatchObject({
    kind: "unavailable",
  });
});

test("updating and deleting a post succeed while the media service is unavailable", async () => {
  const workspace = workspaceWithMedia();
  const post = await workspace.draft({ mediaIds: [workspace.add()] });
  posts.peers.mediaIsUp = false;
  await posts.posts.updatePost({ ...workspace.ref(post), mediaIds: { values: [] } });
  await posts.posts.deletePost(workspace.ref(post));
});

test.each(["violations", "duplicates", "quota"])(
  "CreatePost releases its claim on media when the post is refused because of %s",
  async (why) => {
    const workspace = workspaceWithMedia();
    const accountIds = [workspace.connect()];
    const mediaIds = [workspace.add()];
    const content = why === "violations" ? "x".repeat(1000) : "hello";
    if (why === "duplicates") await workspace.create({ accountIds, mediaIds });
    if (why === "quota") posts.peers.limits.set(workspace.workspaceId, { monthlyQuota: 0 });
    await expect(workspace.create({ accountIds, mediaIds, content })).rejects.toThrow(/./);
    const claim = workspace.used().at(-1);
    expect(workspace.released()).toMatchObject([
      { mediaId: mediaIds[0], postId: claim?.postId, claimId: claim?.claimId },
    ]);
  },
);

test("UpdatePost releases its claim on media when the update is refused", async () => {
  const workspace = workspaceWithMedia();
  const post = await workspace.scheduled();
  const mediaIds = { values: [workspace.add(), newId()] };
  const refused = posts.posts.updatePost({ ...workspace.ref(post), mediaIds });
  await expect(refused).rejects.toMatchObject({ reason: "validation_failed" });
  const claimId = workspace.used().at(-1)?.claimId;
  expect(workspace.released()).toMatchObject(
    mediaIds.values.map((mediaId) => ({ mediaId, postId: post.id, claimId })),
  );
});

test("a repeated CreatePost request that gets the stored response releases its new claim on media", async () => {
  const workspace = workspaceWithMedia();
  const request = {
    accountIds: [workspace.connect()],
    mediaIds: [workspace.add()],
    idempotency: { key: "key", fingerprint: "same" },
  };
  const first = await workspace.create(request);
  expect(workspace.released()).toEqual([]);
  expect((await workspace.create(request)).id).toBe(first.id);
  const claim = workspace.used().at(-1);
  expect(claim?.postId).not.toBe(first.id);
  expect(workspace.released()).toMatchObject([{ postId: claim?.postId, claimId: claim?.claimId }]);
});

test("CreatePost claims media a second time when its process was suspended for longer than the first claim lasts", async () => {
  const workspace = workspaceWithMedia();
  behindMs = [6 * MINUTES];
  const post = await workspace.create({ mediaIds: [workspace.add()] });
  expect(workspace.used().map(({ postId }) => postId)).toEqual([post.id, post.id]);
  expect(new Set(workspace.used().map(({ claimId }) => claimId)).size).toBe(1);
});

test("CreatePost stores no post when its process is suspended twice for longer than a claim on media lasts, once after each of its two claims", async () => {
  const workspace = workspaceWithMedia();
  behindMs = [6 * MINUTES, 6 * MINUTES];
  const mediaIds = [workspace.add()];
  const accountIds = [workspace.connect()];
  const idempotency = { key: "key", fingerprint: "same" };
  await expect(workspace.create({ accountIds, mediaIds, idempotency })).rejects.toMatchObject({
    kind: "unavailable",
  });
  expect((await posts.posts.listPosts({ ...workspace, limit: 1 })).posts).toEqual([]);
  expect(workspace.released()).toHaveLength(1);
  expect((await workspace.create({ accountIds, mediaIds, idempotency })).status).toBe("publishing");
});

test("UpdatePost and PublishPost claim media a second time when their process was suspended for longer than the first claim lasts", async () => {
  const workspace = workspaceWithMedia();
  const post = await workspace.draft({ mediaIds: [workspace.add()] });
  behindMs = [6 * MINUTES];
  const mediaIds = { values: [workspace.add()] };
  await posts.posts.updatePost({ ...workspace.ref(post), mediaIds });
  behindMs = [6 * MINUTES];
  await posts.posts.publishPost(workspace.ref(post));
  expect(workspace.used()).toHaveLength(5);
});

test("CreatePost reads the clock of the database before it claims media", async () => {
  const workspace = workspaceWithMedia();
  const order: string[] = [];
  onClock = () => order.push("clock read");
  posts.peers.onUse = async () => order.push("use noted");
  await workspace.create({ mediaIds: [workspace.add()] });
  expect(order).toEqual(["clock read", "use noted"]);
});

test("CreatePost stores a post that has no media even if the process of the posts service was suspended during the request", async () => {
  const workspace = workspaceWithMedia();
  behindMs = [6 * MINUTES];
  expect((await workspace.create()).status).toBe("publishing");
  expect(behindMs).toEqual([]);
});

test("a post with media that are not ready cannot be published", async () => {
  const workspace = workspaceWithMedia();
  for (const status of ["pending", "rejected"]) {
    const mediaIds = [workspace.add({ status })];
    await workspace.refused(workspace.create({ mediaIds }), "media_not_ready");
  }
  const draft = await workspace.draft({ mediaIds: [workspace.add({ status: "pending" })] });
  await workspace.refused(posts.posts.publishPost(workspace.ref(draft)), "media_not_ready");
});

test("media of another workspace and media that are being deleted are reported as unknown, even for a draft", async () => {
  const workspace = workspaceWithMedia();
  const foreign = workspaceWithMedia().add();
  const deleting = workspace.add({ status: "deleting" });
  for (const id of [foreign, deleting, newId()]) {
    const mediaIds = [id];
    await workspace.refused(workspace.create({ mediaIds }), "unknown_media");
    await workspace.refused(workspace.draft({ mediaIds }), "unknown_media");
    const accountIds = [workspace.connect()];
    const { workspaceId } = workspace;
    const validated = posts.posts.validatePost({ workspaceId, accountIds, mediaIds });
    await workspace.refused(validated, "unknown_media");
  }
});

const video = { kind: "video", contentType: "video/mp4" };
const encoding = (change: MessageInitShape<typeof VideoFactsSchema>) =>
  create(VideoFactsSchema, { codec: "h264", pixelFormat: "yuv420p", fps: 30, ...change });
test.each([
  { code: "media_too_large", platform: "bluesky", media: { ...video, bytes: 300_000_001n } },
  {
    code: "media_type_unsupported",
    platform: "x",
    media: { contentType: "image/webp", frames: 2 },
  },
  { code: "media_dimensions", platform: "telegram", media: { width: 9_000, height: 200 } },
  { code: "media_duration", platform: "x", media: { ...video, durationMs: 900_000n } },
  { code: "media_codec", platform: "x", media: { ...video, video: encoding({ codec: "hevc" }) } },
  { code: "media_frame_rate", platform: "x", media: { ...video, video: encoding({ fps: 120 }) } },
])(
  "media that violate the rules of $platform are refused with $code",
  async ({ code, platform, media }) => {
    const workspace = workspaceWithMedia();
    const { workspaceId } = workspace;
    const request = { workspaceId, accountIds: [workspace.connect(platform)] };
    const validate = (id: string) => posts.posts.validatePost({ ...request, mediaIds: [id] });
    await workspace.refused(validate(workspace.add(media)), code);
    await validate(workspace.add());
    await validate(workspace.add({ ...video, durationMs: 10_000n }));
  },
);

test("the media size limits of platforms apply to the file that platforms receive", async () => {
  const workspace = workspaceWithMedia();
  const { workspaceId } = workspace;
  const request = { workspaceId, accountIds: [workspace.connect("x")] };
  const gif = { contentType: "image/gif", frames: 12 };
  const smaller = workspace.add({ ...gif, bytes: 16_000_000n, deliveryBytes: 14_000_000n });
  const larger = workspace.add({ ...gif, bytes: 14_000_000n, deliveryBytes: 16_000_000n });
  await posts.posts.validatePost({ ...request, mediaIds: [smaller] });
  const refused = posts.posts.validatePost({ ...request, mediaIds: [larger] });
  await workspace.refused(refused, "media_too_large");
});

test("images that are converted for the platforms of a post are accepted", async () => {
  const workspace = workspaceWithMedia();
  const { workspaceId } = workspace;
  const platforms = ["x", "telegram", "bluesky"];
  const accountIds = platforms.map((platform) => workspace.connect(platform));
  const size = { width: 4000, height: 4000, bytes: 18_000_000n };
  const mediaIds = ["image/png", "image/webp", "image/tiff", "image/heic"].map((contentType) =>
    workspace.add({ ...size, contentType, frames: 1 }),
  );
  await posts.posts.validatePost({ workspaceId, accountIds, mediaIds });
});

test("BatchGetMediaUses returns posts in every status with their version", async () => {
  const workspace = workspaceWithMedia();
  const mediaId = workspace.add();
  const mediaIds = [mediaId];
  const draft = await workspace.draft({ mediaIds });
  const scheduled = await workspace.scheduled({ mediaIds, scheduledAt: inHours(1) });
  const publishing = await workspace.create({ mediaIds });
  const cancelled = await workspace.create({ mediaIds });
  await posts.posts.deletePost(workspace.ref(cancelled));
  const without = await workspace.draft();
  const deleted = await workspace.draft({ mediaIds });
  await posts.posts.deletePost(workspace.ref(deleted));
  const foreign = await workspaceWithMedia().draft();
  const all = [draft, scheduled, publishing, cancelled, without, deleted, foreign];
  const answer = await posts.mediaUses.batchGetMediaUses({
    workspaceId: workspace.workspaceId,
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
