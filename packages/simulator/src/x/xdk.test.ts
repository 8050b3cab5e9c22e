import { createHash } from "node:crypto";
import {
  type ApiError,
  Client,
  generateCodeVerifier,
  OAuth2,
  type Schemas,
} from "@xdevplatform/xdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gifBytes } from "#src/testing-images.ts";
import {
  itemsOf,
  jpegBytes,
  mp4Bytes,
  pngBytes,
  type TestAccount,
  TestSimulator,
  textOf,
} from "#src/testing.ts";
import type { mediaView } from "#src/x/media.ts";
import type { UrlEntity } from "#src/x/text.ts";

type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/**
 * Names of the properties that the simulator returns but X's schema does not have, or has with
 * another type. X's client library declares the schema with names in camel case.
 */
type Unknown<View, Schema> = View extends readonly (infer Item)[]
  ? Schema extends readonly (infer Known)[]
    ? Unknown<Item, NonNullable<Known>>
    : "an array"
  : View extends object
    ? {
        [Name in keyof View]-?: Camel<Name> extends keyof Schema
          ? Unknown<NonNullable<View[Name]>, NonNullable<Schema[Camel<Name>]>>
          : Name;
      }[keyof View]
    : View extends Schema
      ? never
      : View;

type Conforms<View, Schema, Known = never> = [Exclude<Unknown<View, Schema>, Known>] extends [never]
  ? true
  : false;

type Urls = NonNullable<Schemas.PostEntities["urls"]>;
type Media = ReturnType<typeof mediaView>;

/**
 * X's schemas lack the property `error` (the reason for failed processing), although X's
 * documentation describes it.
 */
const CONFORMING: readonly [
  Conforms<Media, Schemas.MediaUploadResponseData, "error">,
  Conforms<Media, Schemas.FinalizeMediaUploadResponseData, "error">,
  Conforms<Media, Schemas.GetMediaUploadStatusResponseData, "error">,
  Conforms<UrlEntity[], Urls>,
] = [true, true, true, true];

/**
 * These tests use X's official client library, generated from X's OpenAPI document, to check that
 * the simulator behaves like X.
 */
let simulator: TestSimulator;
let account: TestAccount;
let client: Client;

const send = globalThis.fetch;
/**
 * X's client library sends token calls to a fixed host, so the tests redirect these calls to the
 * simulator.
 */
const toSimulator: typeof fetch = (input, init) => {
  const request = new Request(input, init);
  const url = request.url.replace(/^https:\/\/(?:api\.)?x\.com\//, `${simulator.url}/x/`);
  return send(url === request.url ? request : new Request(url, request));
};

beforeEach(async () => {
  simulator = await TestSimulator.start();
  account = await simulator.account("x");
  client = clientWith(account.credentials["accessToken"] ?? "");
});
afterEach(async () => {
  vi.unstubAllGlobals();
  await simulator[Symbol.asyncDispose]();
});

const clientWith = (accessToken: string) =>
  new Client({ accessToken, baseUrl: `${simulator.url}/x`, retry: false });
const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const visible = async () => itemsOf(await simulator.control("/visible?platform=x"));
const idOf = (answer: { readonly data?: { readonly id?: string } }) => textOf(answer.data?.id);
/**
 * With `raw`, X's client returns the complete response. There is no other way to read the response
 * headers.
 */
const RAW = { requestOptions: { raw: true } } as const;

test("every answer of the X simulator about media and links conforms to X's schemas", () => {
  expect(CONFORMING).not.toContain(false);
});

test("X's official client library creates a post in the simulator, finds the post in three ways and deletes it", async () => {
  const { data: me } = await client.users.getMe({ userFields: ["verified", "profile_image_url"] });
  expect(me).toMatchObject({ id: account.externalId, username: account.username, verified: false });
  const made = await client.posts.create({ text: "Ships & boats: example.com", madeWithAi: true });
  const id = idOf(made);
  expect(made.data?.editHistoryPostIds).toEqual([id]);
  const reply = await client.posts.create({
    text: "And more",
    reply: { inReplyToTweetId: id },
  });

  const postFields = ["created_at", "entities", "public_metrics", "note_post"] as const;
  const one = await client.posts.getById(id, { postFields: [...postFields] });
  expect(one.data?.text).toMatch(/^Ships &amp; boats: https:\/\/t\.co\/\w{10}$/);
  expect(one.data?.entities?.urls?.[0]).toMatchObject({ expandedUrl: "http://example.com" });
  expect(one.data?.publicMetrics).toEqual({
    bookmarkCount: 0,
    impressionCount: 0,
    likeCount: 0,
    quoteCount: 0,
    replyCount: 0,
    repostCount: 0,
  });
  const many = await client.posts.getByIds([id, "1"]);
  expect(many.data?.map((post) => post.id)).toEqual([id]);
  expect(many.errors).toMatchObject([
    { resourceId: "1", type: "https://api.x.com/2/problems/resource-not-found" },
  ]);
  const timeline = await client.users.getPosts(account.externalId, {
    maxResults: 5,
    postFields: ["conversation_id"],
    expansions: ["author_id", "referenced_posts"],
  });
  expect(timeline.data).toEqual([
    expect.objectContaining({
      id: idOf(reply),
      conversationId: id,
      authorId: account.externalId,
      referencedPosts: [{ type: "replied_to", id }],
    }),
    expect.objectContaining({ id, conversationId: id }),
  ]);
  expect(timeline.meta).toEqual({ newestId: idOf(reply), oldestId: id, resultCount: 2 });

  expect((await client.posts.delete(id)).data).toEqual({ deleted: true });
  expect((await client.posts.getById(id)).data).toBeUndefined();
  expect((await visible()).map((post) => post["id"])).toEqual([idOf(reply)]);
});

test("X's official client library reads all pages of a timeline from the simulator", async () => {
  const ids: string[] = [];
  for (let number = 0; number < 7; number += 1)
    ids.unshift(idOf(await client.posts.create({ text: `Number ${number}` })));
  const first = await client.users.getPosts(account.externalId, { maxResults: 5 });
  expect(first.data?.map((post) => post.id)).toEqual(ids.slice(0, 5));
  const next = { maxResults: 5, paginationToken: textOf(first.meta?.nextToken) };
  const second = await client.users.getPosts(account.externalId, next);
  expect(second.data?.map((post) => post.id)).toEqual(ids.slice(5));
  expect(second.meta).not.toHaveProperty("nextToken");
});

test("X's official client library uploads each image to the simulator in one call and creates posts with the images", async () => {
  const files = [pngBytes(1), jpegBytes(2)];
  const mediaIds: string[] = [];
  for (const bytes of files) {
    const media = bytes.toString("base64");
    const { data } = await client.media.upload({ media, mediaCategory: "tweet_image" });
    expect(data).toMatchObject({ mediaKey: `3_${data?.id}`, size: bytes.length });
    mediaIds.push(textOf(data?.id));
  }
  const { data } = await client.posts.create({ text: "Two", media: { mediaIds } });
  const shown = await client.posts.getById(textOf(data?.id), { postFields: ["attachments"] });
  expect(shown.data?.attachments?.mediaKeys).toEqual(mediaIds.map((id) => `3_${id}`));
  expect(await visible()).toMatchObject([
    { text: "Two", media: files.map((bytes) => ({ kind: "image", sha256: sha256(bytes) })) },
  ]);
});

test("X's official client library describes an image in the simulator, and the post shows the description", async () => {
  const uploaded = await client.media.upload({
    media: pngBytes().toString("base64"),
    mediaCategory: "tweet_image",
  });
  const id = textOf(uploaded.data?.id);
  await client.media.createMetadata({ id, metadata: { altText: { text: "A harbour" } } });
  await client.posts.create({ text: "described", media: { mediaIds: [id] } });
  expect(await visible()).toMatchObject([
    { text: "described", media: [{ kind: "image", altText: "A harbour" }] },
  ]);
});

test("X's official client library uploads a video to the simulator in segments, waits for its processing and creates a post with the video", async () => {
  const bytes = mp4Bytes(2500);
  const started = await client.media.initializeUpload({
    mediaType: "video/mp4",
    mediaCategory: "tweet_video",
    totalBytes: bytes.length,
  });
  const id = idOf(started);
  expect(started.data).toEqual({ id, mediaKey: `7_${id}`, expiresAfterSecs: 1_295_999 });
  for (const [segmentIndex, from] of [0, 1000, 2000].entries()) {
    const media = bytes.subarray(from, from + 1000).toString("base64");
    const { data } = await client.media.appendUpload(id, { media, segmentIndex });
    expect(data?.expiresAt).toBeGreaterThan(Date.now() / 1000);
  }
  const finalized = await client.media.finalizeUpload(id);
  expect(finalized.data?.processingInfo).toMatchObject({ state: "pending", checkAfterSecs: 1 });
  const post = { text: "A video", media: { mediaIds: [id] } };
  await expect(client.posts.create(post)).rejects.toMatchObject({ status: 400 });
  await simulator.control("/clock", { advanceMs: 600 });
  const status = async () =>
    (await client.media.getUploadStatus(id, { command: "STATUS" })).data?.processingInfo;
  expect(await status()).toMatchObject({ state: "in_progress", checkAfterSecs: 1 });
  await simulator.control("/clock", { advanceMs: 600 });
  expect(await status()).toEqual({ state: "succeeded", progressPercent: 100 });
  await client.posts.create(post);
  expect(await visible()).toMatchObject([
    { text: "A video", media: [{ kind: "video", sha256: sha256(bytes) }] },
  ]);
});

test("X's official client library uploads a GIF to the simulator, creates a post with the GIF, reads it back and deletes it", async () => {
  const bytes = gifBytes({ width: 480, height: 360, frames: 3 });
  const started = await client.media.initializeUpload({
    mediaType: "image/gif",
    mediaCategory: "tweet_gif",
    totalBytes: bytes.length,
  });
  const mediaId = idOf(started);
  await client.media.appendUpload(mediaId, { media: bytes.toString("base64"), segmentIndex: 0 });
  await client.media.finalizeUpload(mediaId);
  await simulator.control("/clock", { advanceMs: 1200 });
  const id = idOf(await client.posts.create({ text: "Moving", media: { mediaIds: [mediaId] } }));
  const shown = await client.posts.getById(id, { postFields: ["attachments"] });
  expect(shown.data?.attachments?.mediaKeys).toEqual([`16_${mediaId}`]);
  expect(await visible()).toMatchObject([
    { text: "Moving", media: [{ kind: "gif", sha256: sha256(bytes) }] },
  ]);
  expect((await client.posts.delete(id)).data).toEqual({ deleted: true });
  expect(await visible()).toEqual([]);
});

test("X's official client library reads, replies to and hides comments on the simulated X", async () => {
  const id = idOf(await client.posts.create({ text: "What do you say?" }));
  const text = `@${account.username} well done`;
  const comment = { platform: "x", account: account.externalId, mediaId: id, author: "ann", text };
  const commentId = textOf((await simulator.control("/comments", comment))["id"]);
  const found = await client.posts.searchRecent(`conversation_id:${id}`, {
    maxResults: 10,
    postFields: ["created_at"],
    expansions: ["author_id", "referenced_posts"],
  });
  expect(found.data).toMatchObject([
    { id: commentId, text, referencedPosts: [{ type: "replied_to", id }] },
  ]);
  expect(found.includes?.users).toMatchObject([{ username: "ann", id: found.data?.[0]?.authorId }]);
  const reply = { inReplyToTweetId: commentId };
  expect((await client.posts.create({ text: "Thanks", reply })).data?.text).toBe("Thanks");
  expect((await client.posts.hideReply(commentId, { hidden: true })).data).toEqual({
    hidden: true,
  });
});

test("X's official client library reports each refusal of the simulator with X's status and error body", async () => {
  await client.posts.create({ text: "Once" });
  await expect(client.posts.create({ text: "Once" })).rejects.toMatchObject({
    status: 403,
    data: { title: "Forbidden", type: "about:blank", detail: expect.stringContaining("duplicate") },
  });
  await expect(client.posts.create({ text: "a".repeat(281) })).rejects.toMatchObject({
    status: 400,
    data: {
      title: "Invalid Request",
      type: "https://api.x.com/2/problems/invalid-request",
      errors: [{ parameters: { text: [expect.any(String)] }, message: expect.any(String) }],
    },
  });
  await expect(
    clientWith("an-unknown-token").posts.create({ text: "Twice" }),
  ).rejects.toMatchObject({
    status: 401,
    data: { title: "Unauthorized", status: 401 },
  });
  const otherAccount = await simulator.account("x");
  const otherClient = clientWith(otherAccount.credentials["accessToken"] ?? "");
  const id = idOf(await client.posts.create({ text: "Mine" }));
  await expect(otherClient.posts.delete(id)).rejects.toMatchObject({ status: 403 });
});

test("X's official client library reads the number of remaining calls and the time of the reset from the simulator's rate limit headers", async () => {
  const of = (headers: Headers) =>
    ["limit", "remaining"].map((name) => headers.get(`x-rate-limit-${name}`));
  for (let number = 1; number <= 75; number += 1) {
    const { headers } = await client.users.getMe(RAW);
    expect(of(headers)).toEqual(["75", String(75 - number)]);
  }
  const refused: unknown = await client.users.getMe().catch((error: unknown) => error);
  const { status, headers } = refused as ApiError;
  expect(status).toBe(429);
  expect(of(headers)).toEqual(["75", "0"]);
  const resetMs = Number(headers.get("x-rate-limit-reset")) * 1000 - (await simulator.now());
  expect(resetMs).toBeLessThanOrEqual(901_000);
  await simulator.control("/clock", { advanceMs: resetMs });
  expect((await client.users.getMe()).data?.id).toBe(account.externalId);
});

test("X's official client library authorizes an account with PKCE and renews its tokens, and a used refresh token is refused", async () => {
  await simulator.control("/settings", { authorize: "approve" });
  vi.stubGlobal("fetch", toSimulator);
  const authorization = new OAuth2({
    clientId: "app",
    clientSecret: "secret",
    redirectUri: "https://app.example/connect/callback",
    scope: ["tweet.read", "tweet.write", "users.read", "offline.access"],
  });
  const verifier = generateCodeVerifier();
  await authorization.setPkceParameters(verifier);
  const page = await authorization.getAuthorizationUrl("a-random-state-0123456789abcdef");
  const sent = page.replace("https://x.com", `${simulator.url}/x`);
  const approved = await fetch(sent, { redirect: "manual" });
  const back = new URL(approved.headers.get("location") ?? "");
  expect(back.searchParams.get("state")).toBe("a-random-state-0123456789abcdef");
  const token = await authorization.exchangeCode(textOf(back.searchParams.get("code")), verifier);
  expect(token).toMatchObject({ token_type: "bearer", expires_in: 7200 });

  const used = textOf(token.refresh_token);
  const renewed = await authorization.refreshToken(used);
  expect(renewed.refresh_token).not.toBe(used);
  await expect(authorization.refreshToken(used)).rejects.toThrow("Failed to refresh token: 400");
  const me = await clientWith(renewed.access_token).users.getMe();
  expect(me.data?.username).toEqual(expect.any(String));
});
