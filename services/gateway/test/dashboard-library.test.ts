import { RuleFacts, RunFacts, TriedRule } from "@postrider/rest/dashboard/automations";
import { MediaLibrary } from "@postrider/rest/dashboard/media";
import { notFound } from "@postrider/shared/errors";
import { afterAll, expect, test, vi } from "vitest";
import {
  createDashboardServer,
  expectForm,
  SESSION_HEADERS,
  withoutScope,
} from "./dashboard-fixture.ts";
import { summary } from "./error-body.ts";
import { MEDIA_ID, postOf, POST_ID, POST_RECORD, PUBLIC_URL, WORKSPACE_ID } from "./fixture.ts";
import { refuse, startMediaStandIn } from "./media-stand-in.ts";

const MEDIA = {
  id: MEDIA_ID,
  workspaceId: WORKSPACE_ID,
  status: "ready",
  kind: "image",
  contentType: "image/png",
  bytes: 3n,
  width: 2,
  height: 1,
  sha256: "ab",
  fileName: "a.png",
  createdAt: { seconds: 1_795_000_000n, nanos: 0 },
};

const RULE_ID = "01936a5e-7d2b-7000-8000-0000000000aa";

let altText: string | undefined;
const files = await startMediaStandIn();
const server = await createDashboardServer((answer) => ({
  mediaUrl: files.url,
  posts: { batchGetPosts: (request) => answer(request, { posts: [postOf()] }) },
  metrics: {
    listMetricsHistory: (request) => answer(request, { json: '{"targets":[]}' }),
    sumMetrics: (request) => answer(request, { json: '{"days":[]}' }),
  },
  media: {
    listMedia: (request) =>
      answer(request, {
        media: [
          {
            media: { ...MEDIA, ...(altText !== undefined && { altText }) },
            posts: 1001,
            isPrepared: true,
            converted: [{ contentType: "image/jpeg", width: 1080, height: 1350, bytes: 9n }],
          },
          { media: MEDIA, posts: 0 },
        ],
        nextCursor: MEDIA_ID,
        storage: { usedBytes: 5n, reservedBytes: 1n, limitBytes: 10n },
      }),
  },
  inbox: {
    listInbox: (request) => answer(request, { json: '{"comments":[]}' }),
    refreshInbox: (request) => answer(request, { hasBegun: true }),
    setInboxState: (request) => answer(request, { json: '{"state":"done"}' }),
  },
  automations: {
    listAutomationRules: (request) =>
      answer(request, {
        rules: [{ id: RULE_ID, match: "any", status: "active", runCount: 1001 }, { id: RULE_ID }],
        nextCursor: "next",
      }),
    listAutomationRuns: (request) =>
      answer(request, {
        runs: [{ id: RULE_ID, status: "sent", commentText: "Which price?" }, { id: RULE_ID }],
      }),
    tryRule: (request) =>
      answer(request, { outcome: "reply", keywords: ["price"], isSendingEnabled: false }),
  },
}));
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await files[Symbol.asyncDispose]();
});

test("a page of media has signed addresses, the use of each file, and the storage", async () => {
  const answer = await server.send({ url: "/media?kind=image&unused=true&limit=10&cursor=c" });
  expectForm(MediaLibrary, answer.json());
  expect(answer.json()).toMatchObject({
    media: [
      {
        id: MEDIA_ID,
        usedIn: { count: 1000, isMore: true },
        altText: null,
        sentAs: [{ contentType: "image/jpeg", width: 1080, height: 1350, bytes: 9 }],
      },
      { sentAs: null },
    ],
    nextCursor: MEDIA_ID,
    storage: { usedBytes: 5, reservedBytes: 1, limitBytes: 10 },
  });
  expect(answer.body).toContain(`"url":"${PUBLIC_URL}/media/`);
  const filter = { kind: "image", unused: true, withoutAltText: false, limit: 10, cursor: "c" };
  expect(server.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID, ...filter }]);
  expect(summary(await server.send({ url: "/media?limit=101" }))).toEqual([400, "invalid_request"]);
});

test("a page of media that the browser has is answered with 304 although its addresses would be signed anew, until a file changes", async () => {
  vi.useFakeTimers({ toFake: ["Date"] });
  try {
    const first = await server.send({ url: "/media" });
    vi.setSystemTime(Date.now() + 60_000);
    const headers = { ...SESSION_HEADERS, "if-none-match": String(first.headers["etag"]) };
    const same = await server.send({ url: "/media", headers });
    expect([same.statusCode, same.body]).toEqual([304, ""]);
    altText = "A bridge";
    expect((await server.send({ url: "/media", headers })).statusCode).toBe(200);
  } finally {
    altText = undefined;
    vi.useRealTimers();
  }
});

test("the small picture of a file comes from the session's workspace and is kept by this browser for a day, and a file without one has no body", async () => {
  const url = `/media/${MEDIA_ID}/preview`;
  files.handle((request, response) => {
    if (request.url?.endsWith("rendition=preview") !== true) response.writeHead(500).end();
    response.writeHead(200, { "content-type": "image/jpeg", "content-length": 3 }).end("jpg");
  });
  const answer = await server.send({ url });
  expect([answer.statusCode, answer.body]).toEqual([200, "jpg"]);
  expect(answer.headers).toMatchObject({
    "content-type": "image/jpeg",
    "cache-control": "private, max-age=86400",
    vary: expect.stringContaining("cookie") as string,
    "x-content-type-options": "nosniff",
  });
  expect(files.seen[0]?.url).toContain(`/objects/${WORKSPACE_ID}/${MEDIA_ID}?`);

  files.handle((_request, response) => response.writeHead(204).end());
  const none = await server.send({ url });
  expect([none.statusCode, none.body]).toEqual([204, ""]);
  files.handle((_request, response) => refuse(response, notFound()));
  expect(summary(await server.send({ url }))).toEqual([404, "not_found"]);
  expect((await server.send({ url })).headers["cache-control"]).toBe("no-store");
  const refused = await server.send({ url }, withoutScope("posts:read"));
  expect(summary(refused)).toEqual([403, "insufficient_scope"]);
});

test("the history of metrics is asked for the targets of the session's own post", async () => {
  const url = `/posts/${POST_ID}/metrics/history`;
  expect((await server.send({ url })).json()).toEqual({ targets: [] });
  const targetIds = [POST_RECORD.targets[0]?.id];
  expect(server.seen()).toMatchObject([
    { refs: [{ workspaceId: WORKSPACE_ID, id: POST_ID }] },
    { workspaceId: WORKSPACE_ID, targetIds },
  ]);
  expect(summary(await server.send({ url }, { error: notFound() }))).toEqual([404, "not_found"]);
});

test("the sums of metrics are asked for days, an account and a platform", async () => {
  const range = { from: "2026-11-01", to: "2026-11-30" };
  const query = new URLSearchParams({ ...range, accountId: MEDIA_ID, platform: "x" });
  expect((await server.send({ url: `/metrics?${query.toString()}` })).json()).toEqual({ days: [] });
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, ...range, accountId: MEDIA_ID, platform: "x" },
  ]);
  const malformed = await server.send({ url: "/metrics?from=2026-02-30&to=2026-03-01" });
  expect(summary(malformed)).toEqual([400, "invalid_request"]);
});

const RULE = { keywords: ["price"], message: "10 €" };
const attempt = (payload: object) =>
  server.send({ method: "POST", url: "/automations/try", payload });

test("a rule that is not stored is tried on a text, and the answer says what would be sent", async () => {
  const answer = await attempt({ rule: RULE, text: "price?" });
  expectForm(TriedRule, answer.json());
  expect(answer.json()).toEqual({
    outcome: "reply",
    message: "10 €",
    keywords: ["price"],
    excluded: [],
    sendingEnabled: false,
  });
  expect(server.seen()).toMatchObject([{ keywords: ["price"], match: "any", text: "price?" }]);
  for (const body of [{ rule: RULE }, { rule: { ...RULE, keywords: [] }, text: "a" }])
    expect(summary(await attempt(body))).toEqual([400, "invalid_request"]);
});

test("rules have the number of their runs, and runs the texts of their comments, as far as these are known", async () => {
  const rules = await server.send({ url: "/automations/rules?limit=100&cursor=c" });
  expect(rules.json()).toMatchObject({
    rules: [
      { id: RULE_ID, status: "active", runs: { count: 1000, isMore: true } },
      { runs: { count: 0, isMore: false } },
    ],
    nextCursor: "next",
  });
  expectForm(RuleFacts, rules.json<{ rules: object[] }>().rules[0]);
  const paged = { workspaceId: WORKSPACE_ID, limit: 100, cursor: "c" };
  expect(server.seen()).toMatchObject([{ ...paged, withRunCounts: true }]);

  const runs = await server.send({ url: `/automations/runs?ruleId=${RULE_ID}&status=sent` });
  expect(runs.json()).toMatchObject({
    runs: [{ id: RULE_ID, status: "sent", text: "Which price?" }, { text: null }],
    nextCursor: null,
  });
  expectForm(RunFacts, runs.json<{ runs: object[] }>().runs[0]);
  const filter = { workspaceId: WORKSPACE_ID, ruleId: RULE_ID, status: "sent" };
  expect(server.seen()).toMatchObject([{ ...filter, withTexts: true }]);
});

test("the first page of the inbox begins a refresh, and further pages do not", async () => {
  const first = await server.send({ url: `/inbox?state=open&accountId=${MEDIA_ID}&limit=5` });
  expect(first.json()).toEqual({ comments: [] });
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, state: "open", accountId: MEDIA_ID, limit: 5 },
    { workspaceId: WORKSPACE_ID },
  ]);
  await server.send({ url: "/inbox?cursor=c" });
  expect(server.seen()).toMatchObject([{ cursor: "c" }]);
  expect(summary(await server.send({ url: "/inbox?state=new" }))).toEqual([400, "invalid_request"]);
});

test("a comment of the session's workspace is marked as done or open", async () => {
  const put = (payload: object, more = {}) =>
    server.send({ method: "PUT", url: `/inbox/${MEDIA_ID}`, payload }, more);
  expect((await put({ state: "done" })).json()).toEqual({ state: "done" });
  expect(server.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID, id: MEDIA_ID, state: "done" }]);
  expect(summary(await put({ state: "answered" }))).toEqual([400, "invalid_request"]);
  const foreign = await put({ state: "done" }, { error: notFound() });
  expect(summary(foreign)).toEqual([404, "not_found"]);
});

test.each([
  ["GET", "/inbox", "comments:read"],
  ["PUT", `/inbox/${MEDIA_ID}`, "comments:write"],
  ["GET", "/media", "posts:read"],
  ["GET", `/posts/${POST_ID}/metrics/history`, "posts:read"],
  ["GET", "/metrics?from=2026-11-01&to=2026-11-30", "posts:read"],
  ["GET", "/automations/rules", "automations:read"],
  ["GET", "/automations/runs", "automations:read"],
  ["POST", "/automations/try", "automations:read"],
] as const)("%s %s needs the scope %s", async (method, url, scope) => {
  const answer = await server.send({ method, url }, withoutScope(scope));
  expect(summary(answer)).toEqual([403, "insufficient_scope"]);
  expect(server.seen()).toEqual([]);
});
