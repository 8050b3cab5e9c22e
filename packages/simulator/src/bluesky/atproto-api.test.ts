import { createHash } from "node:crypto";
import { AtpAgent } from "@atproto/api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { itemsOf, mp4Bytes, pngBytes, TestSimulator } from "#src/testing.ts";

// These tests use Bluesky's official client, which checks each answer against the lexicons.
let simulator: TestSimulator;
let agent: AtpAgent;

/**
 * Bluesky's client expects the API at the root of a host, but the simulator serves the API below
 * `/bluesky`.
 */
const belowPrefix: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const url = new URL(request.url);
  if (!url.pathname.startsWith("/bluesky/")) url.pathname = `/bluesky${url.pathname}`;
  return fetch(new Request(url, request));
};

beforeEach(async () => {
  simulator = await TestSimulator.start();
  const account = await simulator.account("bluesky");
  const { identifier = "", appPassword: password = "" } = account.credentials;
  agent = new AtpAgent({ service: simulator.url, fetch: belowPrefix });
  await agent.login({ identifier, password });
});

afterEach(() => simulator[Symbol.asyncDispose]());

const sha256 = (bytes: Buffer) => createHash("sha256").update(bytes).digest("hex");
const visible = async () => itemsOf(await simulator.control("/visible?platform=bluesky"));

test("the official Bluesky client posts an image to the simulator, reads the post back and deletes it", async () => {
  const { data } = await agent.uploadBlob(new Uint8Array(pngBytes()), { encoding: "image/png" });
  const post = await agent.post({
    text: "Hello #harbour",
    embed: {
      $type: "app.bsky.embed.images",
      images: [{ image: data.blob, alt: "", aspectRatio: { width: 1, height: 1 } }],
    },
  });
  expect(await visible()).toMatchObject([
    { text: "Hello #harbour", media: [{ kind: "image", sha256: sha256(pngBytes()) }] },
  ]);
  const { posts } = (await agent.getPosts({ uris: [post.uri] })).data;
  expect(posts).toMatchObject([{ uri: post.uri, cid: post.cid, likeCount: 0 }]);
  await agent.deletePost(post.uri);
  expect(await visible()).toEqual([]);
});

// The test does not use the client's own uploadVideo(): its lexicon lacks the parameters `did` and
// `name`, with which the video service is told who uploads which video.
test("the official Bluesky client posts a video through the simulated video service, reads the post back and deletes it", async () => {
  const { host } = new URL(simulator.url);
  const { token } = (
    await agent.com.atproto.server.getServiceAuth({
      aud: `did:web:${encodeURIComponent(host)}`,
      lxm: "com.atproto.repo.uploadBlob",
      exp: Math.floor(Date.now() / 1000) + 1800,
    })
  ).data;
  const service = new AtpAgent({ service: simulator.url, fetch: belowPrefix });
  const parameters = new URLSearchParams({ did: agent.assertDid, name: "video.mp4" });
  const begun = await belowPrefix(
    `${simulator.url}/xrpc/app.bsky.video.uploadVideo?${String(parameters)}`,
    {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "video/mp4" },
      body: new Uint8Array(mp4Bytes()),
    },
  );
  const { jobStatus } = (await begun.json()) as { jobStatus: { jobId: string } };
  await simulator.control("/clock", { advanceMs: 1200 });
  const job = await service.app.bsky.video.getJobStatus({ jobId: jobStatus.jobId });
  const { blob } = job.data.jobStatus;
  const embed = { $type: "app.bsky.embed.video" as const, video: blob, alt: "A regatta" };
  const post = await agent.post({ text: "Sails", embed });
  expect(await visible()).toMatchObject([
    {
      text: "Sails",
      media: [{ kind: "video", sha256: sha256(mp4Bytes()), altText: "A regatta" }],
    },
  ]);
  const { posts } = (await agent.getPosts({ uris: [post.uri] })).data;
  expect(posts).toMatchObject([{ uri: post.uri, cid: post.cid, record: { text: "Sails" } }]);
  const { value } = await agent.getPost({
    repo: agent.assertDid,
    rkey: post.uri.split("/").at(-1) ?? "",
  });
  expect(value.embed).toMatchObject({ $type: "app.bsky.embed.video", alt: "A regatta" });
  await agent.deletePost(post.uri);
  expect(await visible()).toEqual([]);
  expect((await agent.getPosts({ uris: [post.uri] })).data.posts).toEqual([]);
});

test("the official Bluesky client refreshes an expired session with the simulator and posts again", async () => {
  const before = agent.session;
  const { uri } = await agent.post({ text: "Before" });
  await simulator.control("/clock", { advanceMs: 2 * 3_600_000 });
  await agent.post({ text: "After" });
  expect(agent.session?.accessJwt).not.toBe(before?.accessJwt);
  expect(agent.session?.refreshJwt).not.toBe(before?.refreshJwt);
  const { records } = (
    await agent.com.atproto.repo.listRecords({
      repo: agent.assertDid,
      collection: "app.bsky.feed.post",
    })
  ).data;
  expect(records.map(({ value }) => value["text"])).toEqual(["After", "Before"]);
  const rkey = uri.split("/").at(-1) ?? "";
  const record = { repo: agent.assertDid, collection: "app.bsky.feed.post", rkey };
  expect((await agent.com.atproto.repo.getRecord(record)).data.uri).toBe(uri);

  await agent.logout();
  const ended = new AtpAgent({ service: simulator.url, fetch: belowPrefix });
  if (before === undefined) throw new Error("the client has no session");
  await expect(ended.resumeSession(before)).rejects.toMatchObject({ error: "ExpiredToken" });
});

test("the official Bluesky client receives named errors and rate-limit headers from the simulator", async () => {
  const long = { text: "a".repeat(301) };
  await expect(agent.post(long)).rejects.toMatchObject({ status: 400, error: "InvalidRequest" });
  const { uri } = await agent.post({ text: "One" });
  const rkey = uri.split("/").at(-1) ?? "";
  const place = { repo: agent.assertDid, collection: "app.bsky.feed.post", rkey };
  const record = { $type: "app.bsky.feed.post", text: "Two", createdAt: new Date().toISOString() };
  const put = agent.com.atproto.repo.putRecord({ ...place, record, swapRecord: null });
  await expect(put).rejects.toMatchObject({ status: 400, error: "InvalidSwap" });
  const { headers } = await agent.com.atproto.repo.deleteRecord(place);
  expect(headers).toMatchObject({
    "ratelimit-limit": expect.stringMatching(/^\d+$/) as string,
    "ratelimit-remaining": expect.stringMatching(/^\d+$/) as string,
    "ratelimit-reset": expect.stringMatching(/^\d+$/) as string,
  });
  await expect(agent.com.atproto.repo.getRecord(place)).rejects.toMatchObject({
    error: "RecordNotFound",
  });
  const wrong = new AtpAgent({ service: simulator.url, fetch: belowPrefix });
  const login = wrong.login({ identifier: agent.session?.handle ?? "", password: "wrong" });
  await expect(login).rejects.toMatchObject({ status: 401, error: "AuthenticationRequired" });
});
