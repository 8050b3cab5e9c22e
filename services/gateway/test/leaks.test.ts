import { createLogger } from "@postrider/shared/telemetry/logger";
import type { InjectOptions } from "fastify";
import { afterAll, expect, test } from "vitest";
import { ACCOUNT_ID, createSharedServer, POST, POST_ID, type Peers, postOf } from "./fixture.ts";

const KEY = "pr_live_canary-key-that-must-not-be-logged";
const TEXT = "canary-text-that-must-not-be-logged";

const logged: string[] = [];
const destination = { write: (line: string) => void logged.push(line) };
const shared = await createSharedServer(
  createLogger({ service: "gateway", level: "trace", destination }),
);
afterAll(() => shared.app.close());

/** Sends requests to a gateway that logs at the lowest level, and returns the log lines. */
async function logsOf(requests: readonly InjectOptions[], posts: Peers["posts"] = {}) {
  shared.use({ posts });
  logged.length = 0;
  for (const request of requests) await shared.app.inject(request);
  return [...logged];
}

const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
const create = (payload: string): InjectOptions => ({
  method: "POST",
  url: "/api/v1/posts",
  headers,
  payload,
});
const good = JSON.stringify({ content: TEXT, accountIds: [ACCOUNT_ID] });

test.each<[string, InjectOptions]>([
  ["an accepted post", create(good)],
  ["malformed JSON", create(`{"content":"${TEXT}"`)],
  ["an unknown property", create(JSON.stringify({ [TEXT]: 1 }))],
  ["an unknown path", { url: `/api/v1/${TEXT}`, headers }],
  ["an unknown id", { url: `/api/v1/posts/${TEXT}`, headers }],
  ["a bad query", { url: `/api/v1/posts?cursor=${TEXT}&${TEXT}=1`, headers }],
  ["an idempotency key", { ...create(good), headers: { ...headers, "idempotency-key": TEXT } }],
])("the log does not contain the contents of %s", async (_, request) => {
  const createPost = () => ({ post: postOf({ content: TEXT }) });
  const lines = await logsOf([request], { createPost });
  expect(lines).toHaveLength(1);
  expect(lines.join("")).not.toMatch(/canary/);
});

test("the log does not contain the contents of a request that fails internally", async () => {
  const createPost = () => {
    throw new Error("broken");
  };
  const lines = await logsOf([create(good)], { createPost });
  expect(lines.length).toBeGreaterThan(0);
  expect(lines.join("")).not.toMatch(/canary/);
});

test("each request is logged in one line with the HTTP status and the error code of its answer", async () => {
  const lines = await logsOf(
    [
      { url: `/api/v1/posts/${POST_ID}`, headers: { ...headers, "x-request-id": "first" } },
      { url: "/api/v1/posts?x=1", headers: { ...headers, "x-request-id": "second" } },
    ],
    { batchGetPosts: () => ({ posts: [POST] }) },
  );
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    expect.objectContaining({
      level: "info",
      requestId: "first",
      method: "GET",
      route: "/api/v1/posts/:id",
      statusCode: 200,
    }),
    expect.objectContaining({
      requestId: "second",
      route: "/api/v1/posts",
      statusCode: 400,
      code: "invalid_request",
    }),
  ]);
});
