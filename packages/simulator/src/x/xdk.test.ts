import { createHash } from "node:crypto";
import { Client, OAuth2, generateCodeVerifier } from "@xdevplatform/xdk";
import type { ApiError, Schemas } from "@xdevplatform/xdk";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { TestSimulator, itemsOf, jpegBytes, mp4Bytes, pngBytes, textOf } from "#src/testing.ts";
import type { TestAccount } from "#src/testing.ts";
import type { mediaView } from "#src/x/media-view.ts";
import type { UrlEntity } from "#src/x/render.ts";

type Camel<Name> = Name extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : Name;

/** The names in a view that X's schema, which the client writes in camel case, does not have or has of another type. */
type Unknown<View, Schema> = View extends readonly (infer Item)[]
  ? Schema extends readonly (infer Known)[]
    ? Unknown<Item, NonNullable<Known>>
    : "a list"
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

/** Why processing failed is in X's prose and in its examples, and not in its schemas. */
const CONFORMING: readonly [
  Conforms<Media, Schemas.MediaUploadResponseData, "error">,
  Conforms<Media, Schemas.FinalizeMediaUploadResponseData, "error">,
  Conforms<Media, Schemas.GetMediaUploadStatusResponseData, "error">,
  Conforms<UrlEntity[], Urls>,
] = [true, true, true, true];

/** X's own client, made of its OpenAPI document, finds here what it expects of the API. */
let simulator: TestSimulator;
let account: TestAccount;
let client: Client;

const send = globalThis.fetch;
/** The client's token calls go to a host that is written into it. */
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
/** With `raw` the client gives the whole answer, whose headers it shows no other way. */
const RAW = { requestOptions: { raw: true } } as const;

test("every answer about media and links has the shape of X's schemas", () => {
  expect(CONFORMING).not.toContain(false);
});

test("X's client posts, finds the post in three places and deletes it", async () => {
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

test("X's client pages through a timeline", async () => {
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

test("X's client uploads images in one call and posts them", async () => {
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

test("X's client uploads a film in segments, waits until it is processed and posts it", async () => {
  const bytes = mp4Bytes(2500);
  const begun = await client.media.initializeUpload({
    mediaType: "video/mp4",
    mediaCategory: "tweet_video",
    totalBytes: bytes.length,
  });
  const id = idOf(begun);
  expect(begun.data).toEqual({ id, mediaKey: `7_${id}`, expiresAfterSecs: 1_295_999 });
  for (const [segmentIndex, from] of [0, 1000, 2000].entries()) {
    const media = bytes.subarray(from, from + 1000).toString("base64");
    const { data } = await client.media.appendUpload(id, { media, segmentIndex });
    expect(data?.expiresAt).toBeGreaterThan(Date.now() / 1000);
  }
  const finalized = await client.media.finalizeUpload(id);
  expect(finalized.data?.processingInfo).toMatchObject({ state: "pending", checkAfterSecs: 1 });
  const post = { text: "A film", media: { mediaIds: [id] } };
  await expect(client.posts.create(post)).rejects.toMatchObject({ status: 400 });
  await simulator.control("/clock", { advanceMs: 600 });
  const status = async () =>
    (await client.media.getUploadStatus(id, { command: "STATUS" })).data?.processingInfo;
  expect(await status()).toMatchObject({ state: "in_progress", checkAfterSecs: 1 });
  await simulator.control("/clock", { advanceMs: 600 });
  expect(await status()).toEqual({ state: "succeeded", progressPercent: 100 });
  await client.posts.create(post);
  expect(await visible()).toMatchObject([
    { text: "A film", media: [{ kind: "video", sha256: sha256(bytes) }] },
  ]);
});

test("X's client reads, answers and hides comments", async () => {
  const id = idOf(await client.posts.create({ text: "What do you say?" }));
  const text = `@${account.username} well done`;
  const said = { platform: "x", account: account.externalId, mediaId: id, author: "ann", text };
  const comment = textOf((await simulator.control("/comments", said))["id"]);
  const found = await client.posts.searchRecent(`conversation_id:${id}`, {
    maxResults: 10,
    postFields: ["created_at"],
    expansions: ["author_id", "referenced_posts"],
  });
  expect(found.data).toMatchObject([
    { id: comment, text, referencedPosts: [{ type: "replied_to", id }] },
  ]);
  expect(found.includes?.users).toMatchObject([{ username: "ann", id: found.data?.[0]?.authorId }]);
  const reply = { inReplyToTweetId: comment };
  expect((await client.posts.create({ text: "Thanks", reply })).data?.text).toBe("Thanks");
  expect((await client.posts.hideReply(comment, { hidden: true })).data).toEqual({ hidden: true });
});

test("X's client is told of every refusal in X's words", async () => {
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
  await expect(clientWith("nobody's").posts.create({ text: "Twice" })).rejects.toMatchObject({
    status: 401,
    data: { title: "Unauthorized", status: 401 },
  });
  const foreign = await simulator.account("x");
  const others = clientWith(foreign.credentials["accessToken"] ?? "");
  const id = idOf(await client.posts.create({ text: "Mine" }));
  await expect(others.posts.delete(id)).rejects.toMatchObject({ status: 403 });
});

test("X's client sees in the headers of each answer what it may still do, and when it may go on", async () => {
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
  const resetMs = Number(headers.get("x-rate-limit-reset")) * 1000 - Date.now();
  expect(resetMs).toBeLessThanOrEqual(901_000);
  await simulator.control("/clock", { advanceMs: resetMs });
  expect((await client.users.getMe()).data?.id).toBe(account.externalId);
});

test("X's client logs in with PKCE, renews its tokens, and a refresh token works once", async () => {
  await simulator.control("/settings", { authorize: "approve" });
  vi.stubGlobal("fetch", toSimulator);
  const login = new OAuth2({
    clientId: "app",
    clientSecret: "secret",
    redirectUri: "https://app.example/connect/callback",
    scope: ["tweet.read", "tweet.write", "users.read", "offline.access"],
  });
  const verifier = generateCodeVerifier();
  await login.setPkceParameters(verifier);
  const page = await login.getAuthorizationUrl("state-of-the-art-0123456789abcdef");
  const sent = page.replace("https://x.com", `${simulator.url}/x`);
  const approved = await fetch(sent, { redirect: "manual" });
  const back = new URL(approved.headers.get("location") ?? "");
  expect(back.searchParams.get("state")).toBe("state-of-the-art-0123456789abcdef");
  const token = await login.exchangeCode(textOf(back.searchParams.get("code")), verifier);
  expect(token).toMatchObject({ token_type: "bearer", expires_in: 7200 });

  const used = textOf(token.refresh_token);
  const renewed = await login.refreshToken(used);
  expect(renewed.refresh_token).not.toBe(used);
  await expect(login.refreshToken(used)).rejects.toThrow("Failed to refresh token: 400");
  const me = await clientWith(renewed.access_token).users.getMe();
  expect(me.data?.username).toEqual(expect.any(String));
});
