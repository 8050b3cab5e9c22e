import { createHash } from "node:crypto";
import { AtpAgent } from "@atproto/api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { TestSimulator, itemsOf, mp4Bytes, pngBytes } from "#src/testing.ts";

/** A client that others wrote, which checks each answer against the network's lexicons, finds here what it expects. */
let simulator: TestSimulator;
let agent: AtpAgent;

/** The client puts its paths at the root of a host. */
const belowPrefix: typeof fetch = async (input, init) => {
  const request = new Request(input, init);
  const url = new URL(request.url);
  if (!url.pathname.startsWith("/bluesky/")) {
    url.pathname = `/bluesky${url.pathname}`;
  }
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

test("the network's own client posts images and reads the post back", async () => {
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

test("the network's own client posts a film through the video service", async () => {
  const { host } = new URL(simulator.url);
  const { token } = (
    await agent.com.atproto.server.getServiceAuth({
      aud: `did:web:${encodeURIComponent(host)}`,
      lxm: "com.atproto.repo.uploadBlob",
      exp: Math.floor(Date.now() / 1000) + 1800,
    })
  ).data;
  const service = new AtpAgent({ service: simulator.url, fetch: belowPrefix });
  const parameters = new URLSearchParams({ did: agent.assertDid, name: "film.mp4" });
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
  await agent.post({ text: "", embed: { $type: "app.bsky.embed.video", video: blob } });
  expect(await visible()).toMatchObject([
    { media: [{ kind: "video", sha256: sha256(mp4Bytes()) }] },
  ]);
});
