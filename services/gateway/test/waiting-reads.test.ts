import { gunzipSync } from "node:zlib";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test, vi } from "vitest";
import {
  createSharedServer,
  createTestServer,
  POST,
  POST_ID,
  POST_RECORD,
  WORKSPACE_ID,
  postOf,
  pageOf,
} from "./fixture.ts";

const PATH = `/api/v1/posts/${POST_ID}`;
const shared = await createSharedServer();
afterAll(() => shared.app.close());

function statusesOf(status: string | undefined) {
  const ref = { workspaceId: WORKSPACE_ID, id: POST_ID };
  return { statuses: status === undefined ? [] : [{ ref, status }] };
}

test("a request with waitFor=final is answered with the post when its publishing ends", async () => {
  let status = "publishing";
  let questions = 0;
  shared.use({
    posts: {
      batchGetPostStatuses: () => {
        questions += 1;
        return statusesOf(status);
      },
      batchGetPosts: () => ({ posts: [postOf({ status })] }),
    },
  });
  const answer = shared.app.inject(`${PATH}?waitFor=final&timeoutSeconds=30`);
  const sent = answer.then(({ statusCode }) => statusCode);
  await eventually(() => expect(questions).toBeGreaterThanOrEqual(2));
  status = "published";
  expect(await sent).toBe(200);
  expect((await answer).json()).toMatchObject({ status: "published" });
});

test("a request with waitFor=final is answered with the unfinished post when its time limit has passed", async () => {
  shared.use({
    posts: {
      batchGetPostStatuses: () => statusesOf("publishing"),
      batchGetPosts: () => ({ posts: [postOf({ status: "publishing" })] }),
    },
  });
  const startedAt = performance.now();
  const answer = await shared.app.inject(`${PATH}?waitFor=final&timeoutSeconds=1`);
  expect(answer.json()).toMatchObject({ status: "publishing" });
  expect(performance.now() - startedAt).toBeGreaterThan(900);
});

test("a request that waits for a post is answered with 404 when the post is deleted", async () => {
  shared.use({
    posts: {
      batchGetPostStatuses: () => statusesOf(undefined),
      batchGetPosts: () => ({ posts: [] }),
    },
  });
  expect((await shared.app.inject(`${PATH}?waitFor=final`)).statusCode).toBe(404);
});

test.each([
  ["waitFor=done", "waitFor", "not_allowed"],
  ["timeoutSeconds=5", "waitFor", "required"],
  ["waitFor=final&timeoutSeconds=0", "timeoutSeconds", "too_small"],
  ["waitFor=final&timeoutSeconds=31", "timeoutSeconds", "too_large"],
])(
  "a read of a post with the invalid query %s is refused with an error detail about the parameter %s",
  async (query, name, code) => {
    shared.use({ posts: {} });
    const answer = await shared.app.inject(`${PATH}?${query}`);
    expect(answer.statusCode).toBe(400);
    const { error } = answer.json<{ error: { details: { path: string; code: string }[] } }>();
    expect(error.details).toEqual([expect.objectContaining({ code })]);
    expect(JSON.stringify(error.details)).toContain(name);
  },
);

test.each(["/api/v1", "/mcp"])(
  "a wait for a post through %s ends when its API key ends, and shows no post then",
  async (path) => {
    vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
    let [questions, isRevoked] = [0, false];
    await using app = await createTestServer({
      posts: {
        batchGetPostStatuses: () => {
          questions += 1;
          return statusesOf("publishing");
        },
        batchGetPosts: () => ({ posts: [postOf({ status: "publishing" })] }),
      },
      hasEnded: () => Promise.resolve(isRevoked),
      publicUrl: "http://127.0.0.1:1",
    });
    const tool = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "get_post", arguments: { postId: POST_ID, waitSeconds: 30 } },
    };
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      host: "127.0.0.1:1",
    };
    const answer =
      path === "/mcp"
        ? app.inject({ method: "POST", url: "/mcp", headers, body: JSON.stringify(tool) })
        : app.inject(`${PATH}?waitFor=final`);
    const body = answer.then((each) => each.body);
    await eventually(() => expect(questions).toBeGreaterThanOrEqual(1));
    isRevoked = true;
    vi.advanceTimersByTime(2_500);
    expect(await body).toContain("unauthenticated");
    vi.useRealTimers();
  },
);

test("a server that stops answers the requests that wait for posts", async () => {
  let questions = 0;
  const app = await createTestServer({
    posts: {
      batchGetPostStatuses: () => {
        questions += 1;
        return statusesOf("publishing");
      },
      batchGetPosts: () => ({ posts: [postOf({ status: "publishing" })] }),
    },
  });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const answer = fetch(`${url}${PATH}?waitFor=final`);
  await eventually(() => expect(questions).toBeGreaterThanOrEqual(1));
  await app.close();
  expect((await answer).status).toBe(200);
});

test("a read of a post that the client already has is answered with 304 and no body, until the post changes", async () => {
  let post: object = POST;
  shared.use({ posts: { batchGetPosts: () => ({ posts: [post] }) } });
  const read = (tag: string) => shared.app.inject({ url: PATH, headers: { "if-none-match": tag } });
  for (const tag of ['"3"', 'W/"3"', '"2", "3"', "*"]) {
    const answer = await read(tag);
    expect(answer.statusCode).toBe(304);
    expect(answer.headers).toMatchObject({ etag: '"3"', ratelimit: '"workspace";r=593;t=12' });
    expect(answer.body).toBe("");
  }
  expect((await read('"2"')).json()).toEqual(POST_RECORD);
  post = postOf({ version: 4n });
  expect((await read('"3"')).headers).toMatchObject({ etag: '"4"' });
});

test("two lists have the same weak ETag exactly if their content is the same", async () => {
  let content = "a";
  shared.use({ posts: { listPosts: () => pageOf({ content }) } });
  const read = (tag = "") =>
    shared.app.inject({ url: "/api/v1/posts", headers: { "if-none-match": tag } });
  const tag = String((await read()).headers.etag);
  expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
  expect((await read(tag)).statusCode).toBe(304);
  content = "b";
  const changed = await read(tag);
  expect(changed.statusCode).toBe(200);
  expect(changed.headers.etag).not.toBe(tag);
});

test("neither an error nor the answer to a write has a weak ETag or is answered with 304", async () => {
  shared.use({
    posts: { batchGetPosts: () => ({ posts: [] }), retryPost: () => ({ post: POST }) },
  });
  const missing = await shared.app.inject({ url: PATH, headers: { "if-none-match": "*" } });
  expect(missing.statusCode).toBe(404);
  expect(missing.headers).not.toHaveProperty("etag");
  const headers = { "if-none-match": "*" };
  const write = await shared.app.inject({ method: "POST", url: `${PATH}/retry`, headers });
  expect(write.statusCode).toBe(202);
});

test("a large list is compressed for clients that accept it, and only for them", async () => {
  const content = "x".repeat(20_000);
  shared.use({ posts: { listPosts: () => pageOf({ content }) } });
  const read = (encoding: string) =>
    shared.app.inject({ url: "/api/v1/posts", headers: { "accept-encoding": encoding } });
  const packed = await read("gzip");
  expect(packed.headers).toMatchObject({ "content-encoding": "gzip" });
  expect(packed.headers.vary).toContain("accept-encoding");
  expect(packed.rawPayload.length).toBeLessThan(2_000);
  const plain = await read("identity");
  expect(plain.headers).not.toHaveProperty("content-encoding");
  expect(gunzipSync(packed.rawPayload).toString()).toBe(plain.body);
  expect((await read("br, gzip")).headers).toMatchObject({ "content-encoding": "br" });
});

test("a compressed list arrives complete even if the list is large", async () => {
  const content = "ab".repeat(400_000);
  shared.use({ posts: { listPosts: () => pageOf({ content }) } });
  const packed = await shared.app.inject({
    url: "/api/v1/posts",
    headers: { "accept-encoding": "gzip" },
  });
  const { posts } = JSON.parse(gunzipSync(packed.rawPayload).toString()) as {
    posts: { content: string }[];
  };
  expect(posts[0]?.content).toBe(content);
});

test("a small answer is not compressed", async () => {
  const app = await createTestServer({ posts: { batchGetPosts: () => ({ posts: [POST] }) } });
  const url = await app.listen({ host: "127.0.0.1", port: 0 });
  const answer = await fetch(`${url}${PATH}`, { headers: { "accept-encoding": "gzip" } });
  expect(answer.headers.get("content-encoding")).toBe(null);
  expect(await answer.json()).toEqual(POST_RECORD);
  await app.close();
});
