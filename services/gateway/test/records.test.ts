import type { PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { afterAll, expect, test } from "vitest";
import {
  ACCOUNT_ID,
  createSharedServer,
  POST,
  POST_ID,
  POST_RECORD,
  WORKSPACE_ID,
  pageOf,
} from "./fixture.ts";

const shared = await createSharedServer();
afterAll(() => shared.app.close());

test("GET /posts/{id} returns the whole post with nulls for absent values, its ETag and the rate limit", async () => {
  shared.use({ posts: { batchGetPosts: () => ({ posts: [POST] }) } });
  const answer = await shared.app.inject({
    url: `/api/v1/posts/${POST_ID}`,
    headers: { "x-request-id": "mine" },
  });
  expect(answer.statusCode).toBe(200);
  expect(answer.headers).toMatchObject({
    etag: '"3"',
    "x-request-id": "mine",
    ratelimit: '"workspace";r=593;t=12',
    "ratelimit-policy": '"workspace";q=600;w=60',
  });
  expect(answer.json()).toEqual(POST_RECORD);
});

test("POST /posts answers 202 with the path of the post and passes the client's fields to the posts service", async () => {
  const seen: unknown[] = [];
  shared.use({
    posts: {
      createPost: (request) => {
        seen.push(request);
        return {
          post: POST,
          replayed: true,
        };
      },
    },
  });
  const answer = await shared.app.inject({
    method: "POST",
    url: "/api/v1/posts",
    headers: { "idempotency-key": "k-1" },
    payload: {
      content: "Hello",
      accountIds: [ACCOUNT_ID],
      options: { x: { tags: [], title: "t" } },
    },
  });
  expect([
    answer.statusCode,
    answer.headers.location,
    answer.headers["idempotent-replayed"],
  ]).toEqual([202, `/api/v1/posts/${POST_ID}`, "true"]);
  expect(answer.body).toBe(POST.json);
  expect(seen).toMatchObject([
    {
      workspaceId: WORKSPACE_ID,
      content: "Hello",
      accountIds: [ACCOUNT_ID],
      options: '{"x":{"tags":[],"title":"t"}}',
      createdVia: "rest",
      idempotency: { key: "k-1", fingerprint: expect.stringMatching(/^[0-9a-f]{64}$/) as string },
    },
  ]);
});

test("GET /posts passes on the page that the posts service returns, with the cursor of the next page", async () => {
  shared.use({
    posts: {
      listPosts: ({ limit, cursor }) => pageOf({}, `${cursor ?? "first"}-${limit}`),
    },
  });
  for (const [query, cursor] of [
    ["", "first-20"],
    ["?limit=100&cursor=abc", "abc-100"],
  ] as const) {
    const answer = await shared.app.inject({ url: `/api/v1/posts${query}` });
    expect(answer.body).toBe(pageOf({}, cursor).json);
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
  }
});

test("GET /platforms lists all seven platforms in order, with their rules", async () => {
  shared.use({
    platforms: { listPlatforms: () => ({ platforms: [{ platform: "x", available: true }] }) },
  });
  const { platforms } = (await shared.app.inject({ url: "/api/v1/platforms" })).json<{
    platforms: { id: string }[];
  }>();
  expect(platforms.map(({ id }) => id)).toEqual([
    "instagram",
    "x",
    "facebook",
    "tiktok",
    "youtube",
    "telegram",
    "bluesky",
  ]);
  expect(platforms[1]).toMatchObject({
    id: "x",
    name: "X",
    available: true,
    unavailableReason: null,
    rules: { text: { max: 280, unit: "weighted" } },
  });
  expect(platforms[0]).toMatchObject({ available: false, unavailableReason: "not_configured" });
});

test("GET /platforms shows every limit of a platform unchanged, and nothing about how Postrider works", async () => {
  shared.use({ platforms: { listPlatforms: () => ({ platforms: [] }) } });
  const answer = await shared.app.inject({ url: "/api/v1/platforms" });
  const { platforms } = answer.json<{ platforms: { id: PlatformId; rules: object }[] }>();
  for (const { id, rules } of platforms) {
    const { id: _, displayName, idempotency, verifyLive, ...limits } = PLATFORM_FACTS[id].rules;
    expect(rules, displayName).toEqual(limits);
    expect([idempotency, verifyLive], displayName).not.toContain(undefined);
  }
});

test("GET /accounts lists accounts without their internal fields", async () => {
  const account = {
    id: ACCOUNT_ID,
    workspaceId: WORKSPACE_ID,
    platform: "x",
    externalId: "9",
    username: "ann",
    displayName: "Ann",
    status: "active",
    connectedAt: { seconds: 1_795_000_000n, nanos: 0 },
    version: 4n,
    permissions: {
      granted: ["publishing"],
      missing: ["comments"],
      missingScopes: ["tweet.moderate.write"],
    },
    traits: { verified_type: "blue" },
  };
  shared.use({ accounts: { listAccounts: () => ({ accounts: [account] }) } });
  expect((await shared.app.inject({ url: "/api/v1/accounts" })).json()).toEqual({
    accounts: [
      {
        id: ACCOUNT_ID,
        platform: "x",
        externalId: "9",
        username: "ann",
        displayName: "Ann",
        avatarUrl: null,
        status: "active",
        connectedAt: "2026-11-18T11:06:40.000Z",
        tokenExpiresAt: null,
        accessEndedAt: null,
        permissions: { granted: ["publishing"], missing: ["comments"] },
      },
    ],
  });
});
