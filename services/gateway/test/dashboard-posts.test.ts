import type { MessageInitShape } from "@bufbuild/protobuf";
import type { TargetWaitSchema } from "@postrider/contracts/delivery/v1/publishing_status_service_pb";
import { AccountRetry, ConnectLink, ConnectLinkStatus } from "@postrider/rest/dashboard/accounts";
import {
  CureList,
  PostTargetsWords,
  PostWordsList,
  ResolvedTarget,
} from "@postrider/rest/dashboard/cures";
import { Status } from "@postrider/rest/dashboard/status";
import { conflict } from "@postrider/shared/errors";
import { afterAll, expect, onTestFinished, test } from "vitest";
import {
  createDashboardServer,
  expectForm,
  SESSION_HEADERS,
  withoutScope,
} from "./dashboard-fixture.ts";
import { summary } from "./error-body.ts";
import { ACCOUNT_ID, postOf, POST_ID, POST_RECORD, WORKSPACE_ID } from "./fixture.ts";

const AT = { seconds: 1_795_000_000n, nanos: 5_000_000 };
const INSTANT = "2026-11-18T11:06:40.005Z";
const TARGET = POST_RECORD.targets[0];
const OTHER_ID = "01936a5e-7d2b-7000-8000-0000000000ee";
const error = {
  code: "media_rejected",
  message: "Frame rate must be at least 23 FPS.",
  retryable: false,
  action: "…",
};
const FAILED = {
  ...POST_RECORD,
  status: "publishing",
  targets: [
    { ...TARGET, status: "failed", error },
    { ...TARGET, id: OTHER_ID, accountId: OTHER_ID, status: "publishing" },
  ],
};
/** What the posts service has. */
let shown: typeof FAILED | undefined = FAILED;
const PAUSED = [{ targetId: OTHER_ID, kind: "pause", pause: "platform", reason: "topping up" }];
/** What delivery answers. */
let waits: MessageInitShape<typeof TargetWaitSchema>[] = PAUSED;
const COUNTS = { limit: 10n, used: 1n, reserved: 2n, remaining: 7n, resetsAt: AT };

const server = await createDashboardServer((answer) => ({
  overview: {
    getOverview: (request) => answer(request, { json: '{"counts":{}}' }),
    retryAccount: (request) =>
      answer(request, {
        retried: 3,
        refused: [{ postId: POST_ID, code: "quota_exceeded" }],
        isMore: true,
        nextAfter: POST_ID,
      }),
  },
  posts: {
    batchGetPosts: (request) =>
      answer(request, { posts: shown === undefined ? [] : [postOf(shown)] }),
    listPosts: (request) => answer(request, { json: `{"posts":[],"nextCursor":null}` }),
  },
  publishingStatus: {
    batchGetWaits: (request) => answer(request, { waits }),
    batchGetSecondPosts: (request) =>
      answer(request, { posts: [{ targetId: TARGET?.id ?? "", permalink: "https://x.com/a/2" }] }),
    getPublishingStatus: (request) =>
      answer(request, { json: '{"pauses":[],"heldPlatforms":[],"heldAccounts":[]}' }),
  },
  tasks: {
    resolveTarget: (request) =>
      answer(request, { update: { status: "published", permalink: "https://x.com/a/1" } }),
  },
  accounts: {
    listAccounts: () => ({ accounts: [{ id: ACCOUNT_ID, platform: "x" }] }),
    batchGetAccounts: ({ refs }) => ({
      accounts: refs.some(({ accountId }) => accountId === ACCOUNT_ID)
        ? [{ id: ACCOUNT_ID, platform: "youtube" }]
        : [],
    }),
    connectAccount: (request) => answer(request, { account: { id: ACCOUNT_ID, connectedAt: AT } }),
  },
  authorizations: {
    issueConnectLink: (request) =>
      answer(request, { id: OTHER_ID, url: "https://p.example/connect/s", expiresAt: AT }),
    getAuthorization: (request) =>
      answer(request, { status: "connected", accounts: [{ id: ACCOUNT_ID }] }),
  },
  quota: {
    getQuota: () => ({
      monthly: { period: "2026-11", ...COUNTS },
      dailyLimits: [{ platform: "x", accountId: ACCOUNT_ID, scope: "app", ...COUNTS }],
    }),
  },
}));
afterAll(() => server[Symbol.asyncDispose]());

test("the overview of the session's workspace is passed on as posts writes it", async () => {
  const answer = await server.send({ url: "/overview" });
  expect(answer.json()).toEqual({ counts: {} });
  expect(server.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID }]);
});

test("the cures have words for every code, and need no scope", async () => {
  const answer = await server.send({ url: "/cures" }, { scopes: [] });
  expect(answer.statusCode).toBe(200);
  expectForm(CureList, answer.json());
});

test("pages that read the same list or overview at once share calls", async () => {
  const ask = (url: string) =>
    server.app.inject({ url, headers: SESSION_HEADERS }).then(({ statusCode }) => statusCode);
  for (const url of ["/app/api/overview", "/api/v1/posts?limit=20"]) {
    await server.send({ url: "/cures" });
    expect(new Set(await Promise.all(Array.from({ length: 20 }, () => ask(url))))).toEqual(
      new Set([200]),
    );
    expect(server.seen().length).toBeLessThanOrEqual(10);
  }
});

test("the words of a list of posts have the cause, the platform's own words and the cure", async () => {
  const answer = await server.send({ url: `/posts/words?ids=${POST_ID},${OTHER_ID},${POST_ID}` });
  expectForm(PostWordsList, answer.json());
  expect(answer.json()).toMatchObject({
    posts: [
      {
        postId: POST_ID,
        status: "publishing",
        text: POST_RECORD.content,
        targets: [
          {
            accountId: ACCOUNT_ID,
            code: "media_rejected",
            message: error.message,
            cause: { en: "The platform refused the media." },
            cure: { kind: "change_media" },
          },
          { accountId: OTHER_ID, code: null, message: null, cause: null, cure: null },
        ],
      },
    ],
  });
  expect(server.seen()).toMatchObject([
    { refs: [POST_ID, OTHER_ID].map((id) => ({ workspaceId: WORKSPACE_ID, id })) },
  ]);
  const malformed = await server.send({ url: `/posts/words?ids=${POST_ID},x` });
  expect(summary(malformed)).toEqual([400, "invalid_request"]);
});

test("the calendar reads all posts between two dates in one request of up to 1,000", async () => {
  const url = "/posts?from=2026-11-01&to=2026-11-30&cursor=c";
  expect((await server.send({ url })).json()).toEqual({ posts: [], nextCursor: null });
  const dates = { from: "2026-11-01", to: "2026-11-30" };
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, ...dates, cursor: "c", limit: 1_000 },
  ]);
  const without = await server.send({ url: "/posts?from=2026-11-01" });
  expect(summary(without)).toEqual([400, "invalid_request"]);
});

test("the targets of a post say what those wait for that have not ended", async () => {
  const answer = await server.send({ url: `/posts/${POST_ID}/targets` });
  expectForm(PostTargetsWords, answer.json());
  expect(answer.json()).toMatchObject({
    targets: [
      { waitsFor: null },
      { waitsFor: { kind: "pause", pause: "platform", reason: "topping up", until: null } },
    ],
  });
  expect(server.seen()[1]).toMatchObject({ workspaceId: WORKSPACE_ID, targetIds: [OTHER_ID] });
});

test("a target that failed at a limit says until when the limit lasts, and delivery is not asked about other failures", async () => {
  const limited = { ...error, code: "rate_limited", retryable: true };
  const targets = [
    { ...TARGET, status: "failed", error },
    { ...TARGET, id: OTHER_ID, accountId: OTHER_ID, status: "failed", error: limited },
  ];
  shown = { ...FAILED, status: "failed", targets };
  waits = [{ targetId: OTHER_ID, kind: "held_account", until: AT }];
  onTestFinished(() => void ([shown, waits] = [FAILED, PAUSED]));
  const expected = [
    { waitsFor: null },
    { cure: { kind: "retry_later" }, waitsFor: { kind: "held_account", until: INSTANT } },
  ];
  const answer = await server.send({ url: `/posts/${POST_ID}/targets` });
  expectForm(PostTargetsWords, answer.json());
  expect(answer.json()).toMatchObject({ targets: expected });
  expect(server.seen()[1]).toMatchObject({ targetIds: [OTHER_ID] });
  const list = await server.send({ url: `/posts/words?ids=${POST_ID}` });
  expectForm(PostWordsList, list.json());
  expect(list.json()).toMatchObject({ posts: [{ targets: expected }] });
  expect(server.seen()[1]).toMatchObject({ workspaceId: WORKSPACE_ID, targetIds: [OTHER_ID] });
});

test("a list with many limits asks delivery once, about its first hundred", async () => {
  const limited = { ...error, code: "platform_quota", retryable: true };
  const targets = Array.from({ length: 120 }, (_, index) => {
    const id = `01936a5e-7d2b-7000-8000-${String(index).padStart(12, "0")}`;
    return { ...TARGET, id, status: "failed", error: limited };
  });
  shown = { ...FAILED, status: "failed", targets };
  onTestFinished(() => void (shown = FAILED));
  await server.send({ url: `/posts/words?ids=${POST_ID}` });
  const asked = server.seen().slice(1) as { targetIds: readonly string[] }[];
  expect(asked.map(({ targetIds }) => targetIds.length)).toEqual([100]);
});

test("a target that is there twice has the address of its second post", async () => {
  const twice = { ...error, code: "duplicate_detected", message: "published a second time as 2" };
  shown = { ...FAILED, targets: [{ ...TARGET, status: "published", error: twice }] };
  onTestFinished(() => void (shown = FAILED));
  const answer = await server.send({ url: `/posts/${POST_ID}/targets` });
  expectForm(PostTargetsWords, answer.json());
  expect(answer.json()).toMatchObject({
    targets: [{ cure: { kind: "open_both" }, secondPermalink: "https://x.com/a/2" }],
  });
  expect(server.seen()[1]).toMatchObject({ workspaceId: WORKSPACE_ID, targetIds: [TARGET?.id] });
});

const RESOLVE = `/posts/${POST_ID}/targets/${ACCOUNT_ID}/resolve`;
const resolve = (payload: object, url = RESOLVE) => server.send({ method: "POST", url, payload });

test("an unknown outcome is resolved with the target of the session's own post", async () => {
  const there = await resolve({ published: true, url: "https://x.com/a/1" });
  expectForm(ResolvedTarget, there.json());
  expect(server.seen()).toMatchObject([
    { refs: [{ workspaceId: WORKSPACE_ID, id: POST_ID }] },
    { targetId: TARGET?.id, publishedUrl: "https://x.com/a/1" },
  ]);
  await resolve({ published: false, attemptCount: 2 });
  expect(server.seen()[1]).toMatchObject({ attemptCount: 2 });
  expect(server.seen()[1]).not.toHaveProperty("publishedUrl");
});

test.each([
  [{ published: true }],
  [{ published: false, url: "https://x.com/a/1" }],
  [{ url: "https://x.com/a/1" }],
  [{ published: "yes" }],
  [{ published: false, attemptCount: -1 }],
])("the resolution %j is refused before anything is changed", async (payload) => {
  expect(summary(await resolve(payload))).toEqual([400, "invalid_request"]);
  expect(server.seen()).toEqual([]);
});

test("an account without a target of the post, and a post of another workspace, are not found", async () => {
  const noTarget = await resolve({ published: false }, RESOLVE.replace(ACCOUNT_ID, POST_ID));
  expect(summary(noTarget)).toEqual([404, "not_found"]);
  expect(server.seen()).toHaveLength(1);
  shown = undefined;
  onTestFinished(() => void (shown = FAILED));
  expect(summary(await resolve({ published: false }))).toEqual([404, "not_found"]);
  expect(server.seen()).toHaveLength(1);
});

test("a target whose outcome is known cannot be resolved", async () => {
  const request = { method: "POST", url: RESOLVE, payload: { published: false } } as const;
  const answer = await server.send(request, { error: conflict("invalid_transition") });
  expect(summary(answer)).toEqual([409, "invalid_transition"]);
});

test("a connect link is issued for a platform, or for the platform of an account that is connected again", async () => {
  const send = (payload: object) => server.send({ method: "POST", url: "/connect-links", payload });
  const answer = await send({ accountId: ACCOUNT_ID, returnTo: "/app/accounts?retry=1" });
  expect([answer.statusCode, answer.json()]).toEqual([
    201,
    { id: OTHER_ID, url: "https://p.example/connect/s", expiresAt: INSTANT },
  ]);
  expectForm(ConnectLink, answer.json());
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, platform: "youtube", returnTo: "/app/accounts?retry=1" },
  ]);
  await send({ platform: "x" });
  expect(server.seen()).toMatchObject([{ platform: "x" }]);
  expect(summary(await send({ accountId: OTHER_ID }))).toEqual([404, "not_found"]);
  for (const body of [
    {},
    { platform: "x", accountId: ACCOUNT_ID },
    { platform: "x", returnTo: "//evil.example" },
    { platform: "x", returnTo: "/app/../api" },
  ])
    expect(summary(await send(body))).toEqual([400, "invalid_request"]);
});

test("the progress of a connect link is read for the session's workspace only", async () => {
  const answer = await server.send({ url: `/connect-links/${OTHER_ID}` });
  expectForm(ConnectLinkStatus, answer.json());
  expect(answer.json()).toMatchObject({ status: "connected", accountIds: [ACCOUNT_ID] });
  expect(server.seen()).toMatchObject([{ id: OTHER_ID, workspaceId: WORKSPACE_ID }]);
});

test("entered credentials are passed on and are not in the answer", async () => {
  const login = { identifier: "a.example", appPassword: "secret-words" };
  const payload = { platform: "bluesky", login };
  const answer = await server.send({ method: "POST", url: "/accounts", payload });
  expect(answer.statusCode).toBe(201);
  expect(answer.body).not.toContain("secret-words");
  expect(server.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID, platform: "bluesky", login }]);
});

test("a retry of an account says how many are sent again and which posts were left", async () => {
  const url = `/accounts/${ACCOUNT_ID}/retry`;
  const answer = await server.send({
    method: "POST",
    url,
    payload: { code: "missed", after: OTHER_ID, postId: POST_ID },
  });
  expectForm(AccountRetry, answer.json());
  expect(answer.json()).toEqual({
    retried: 3,
    refused: [{ postId: POST_ID, code: "quota_exceeded" }],
    isMore: true,
    nextAfter: POST_ID,
  });
  expect(server.seen()).toMatchObject([
    {
      workspaceId: WORKSPACE_ID,
      accountId: ACCOUNT_ID,
      code: "missed",
      after: OTHER_ID,
      postId: POST_ID,
    },
  ]);
});

test("a retry of an account that the workspace does not have retries nothing", async () => {
  const url = `/accounts/${OTHER_ID}/retry`;
  const answer = await server.send({ method: "POST", url, payload: { postId: POST_ID } });
  expect(summary(answer)).toEqual([404, "not_found"]);
  expect(server.seen()).toEqual([]);
});

test("the status joins what holds publishing back with the quotas and when they begin anew", async () => {
  const answer = await server.send({ url: "/status" });
  expectForm(Status, answer.json());
  expect(answer.json()).toMatchObject({
    quota: { monthly: { period: "2026-11", resetsAt: INSTANT }, dailyLimits: [{ used: 1 }] },
  });
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, accounts: [{ id: ACCOUNT_ID, platform: "x" }] },
  ]);
});

test.each([
  ["GET", "/overview", "posts:read"],
  ["GET", "/posts?from=2026-11-01&to=2026-11-30", "posts:read"],
  ["GET", `/posts/words?ids=${POST_ID}`, "posts:read"],
  ["GET", `/posts/${POST_ID}/targets`, "posts:read"],
  ["POST", RESOLVE, "posts:write"],
  ["POST", "/connect-links", "accounts:write"],
  ["GET", `/connect-links/${POST_ID}`, "accounts:read"],
  ["POST", "/accounts", "accounts:write"],
  ["POST", `/accounts/${ACCOUNT_ID}/retry`, "posts:write"],
  ["GET", "/status", "posts:read"],
] as const)("%s %s needs the scope %s", async (method, url, scope) => {
  const answer = await server.send({ method, url }, withoutScope(scope));
  expect(summary(answer)).toEqual([403, "insufficient_scope"]);
  expect(server.seen()).toEqual([]);
});
