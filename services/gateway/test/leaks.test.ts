import { createLogger } from "@postrider/shared/telemetry/logger";
import type { InjectOptions } from "fastify";
import { describe, expect, test } from "vitest";
import { ACCOUNT_ID, admitted, createTestServer, POST, POST_ID, type Peers } from "./fixture.ts";

const KEY = "pr_live_canary-key-nobody-may-log";
const TEXT = "canary-text-nobody-may-log";

/** Sends requests to one gateway that logs everything it can, and returns what it logged. */
async function logsOf(requests: readonly InjectOptions[], peers: Peers = {}) {
  const lines: string[] = [];
  const logger = createLogger({
    service: "gateway",
    level: "trace",
    destination: { write: (line) => void lines.push(line) },
  });
  const app = await createTestServer(peers, () => admitted(), logger);
  for (const request of requests) await app.inject(request);
  await app.close();
  return lines;
}

const headers = { authorization: `Bearer ${KEY}`, "content-type": "application/json" };
const create = (payload: string): InjectOptions => ({
  method: "POST",
  url: "/api/v1/posts",
  headers,
  payload,
});
const good = JSON.stringify({ content: TEXT, accountIds: [ACCOUNT_ID] });

describe("what a request carries stays out of the log", () => {
  test.each<[string, InjectOptions]>([
    ["an accepted post", create(good)],
    ["malformed JSON", create(`{"content":"${TEXT}"`)],
    ["an unknown property", create(JSON.stringify({ [TEXT]: 1 }))],
    ["an unknown path", { url: `/api/v1/${TEXT}`, headers }],
    ["an unknown id", { url: `/api/v1/posts/${TEXT}`, headers }],
    ["a bad query", { url: `/api/v1/posts?cursor=${TEXT}&${TEXT}=1`, headers }],
    ["an idempotency key", { ...create(good), headers: { ...headers, "idempotency-key": TEXT } }],
  ])("of %s", async (_, request) => {
    const createPost = () => ({ post: { ...POST, content: TEXT } });
    const lines = await logsOf([request], { posts: { createPost } });
    expect(lines).toHaveLength(1);
    expect(lines.join("")).not.toMatch(/canary/);
  });

  test("of a request that fails inside", async () => {
    const createPost = () => {
      throw new Error("broken");
    };
    const lines = await logsOf([create(good)], { posts: { createPost } });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join("")).not.toMatch(/canary/);
  });
});

test("each request has one line that says what became of it", async () => {
  const lines = await logsOf(
    [
      { url: `/api/v1/posts/${POST_ID}`, headers: { ...headers, "x-request-id": "first" } },
      { url: "/api/v1/posts?x=1", headers: { ...headers, "x-request-id": "second" } },
    ],
    { posts: { batchGetPosts: () => ({ posts: [POST] }) } },
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
