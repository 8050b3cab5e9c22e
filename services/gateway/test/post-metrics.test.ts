import { conflict, notFound, unavailable } from "@postrider/shared/errors";
import { afterAll, expect, test } from "vitest";
import { faults, summary } from "./error-body.ts";
import { POST_ID, POST_RECORD, WORKSPACE_ID, postOf } from "./fixture.ts";
import {
  AT,
  createRecordingServer,
  INSTANT,
  withoutScope,
  type RecordingServer,
} from "./recording-server.ts";

const URL = `/api/v1/posts/${POST_ID}/metrics/refresh`;
const [TARGET] = POST_RECORD.targets as [(typeof POST_RECORD.targets)[0]];
const FAILED = { ...TARGET, id: "01936a5e-7d2b-7000-8000-000000000004", status: "failed" };
/** The metrics of `TARGET` after the refresh. */
const METRICS = {
  views: 12,
  impressions: null,
  reach: null,
  likes: 0,
  comments: null,
  shares: null,
  saves: null,
  refreshedAt: INSTANT,
};
const NONE = { eligible: 0, ready: 0, notFound: 0, error: 0, deferred: 0, stale: 0, failed: 0 };

let targets: readonly { readonly id: string }[];
/** What the posts service was last asked to store. */
let recorded: object | undefined;
/** The time limit of the last call to the delivery service, in milliseconds. */
let deadlineMs: number | undefined;

const server = await createRecordingServer((answer) => ({
  requestTimeoutMs: 15_000,
  posts: {
    batchGetPosts: () => ({ posts: [postOf({ targets })] }),
    recordTargetMetrics: (request) => {
      recorded = request;
      const read = new Set(request.targets.map(({ targetId }) => targetId));
      const shown = targets.map((target) =>
        read.has(target.id) ? { ...target, metrics: METRICS } : target,
      );
      return { post: postOf({ targets: shown }) };
    },
  },
  metrics: {
    refreshMetrics: (request, context) => {
      deadlineMs = context.timeoutMs();
      return answer(request, {
        ...NONE,
        eligible: 3,
        ready: 1,
        deferred: 2,
        targets: [{ targetId: TARGET.id, metrics: { views: 12n, likes: 0n, refreshedAt: AT } }],
      });
    },
  },
}));
afterAll(() => server[Symbol.asyncDispose]());

const refresh = (more: Parameters<RecordingServer["send"]>[1] = {}, options: object = {}) =>
  server.send({ method: "POST", url: URL, ...options }, more);

test("a refresh of metrics asks only for published targets, and returns the post with its newest metrics and the number of targets per result", async () => {
  targets = [TARGET, FAILED];
  const answer = await refresh();

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    post: {
      ...POST_RECORD,
      targets: [{ ...TARGET, metrics: METRICS }, FAILED],
    },
    refresh: { eligible: 3, ready: 1, notFound: 0, error: 0, deferred: 2, stale: 0, failed: 0 },
  });
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, postId: POST_ID, targetIds: [TARGET.id] },
  ]);
  expect(recorded).toMatchObject({
    workspaceId: WORKSPACE_ID,
    postId: POST_ID,
    targets: [{ targetId: TARGET.id, metrics: { views: 12n } }],
  });
});

test("a refresh of metrics waits longer for the delivery service than that service waits for the platforms", async () => {
  targets = [TARGET];
  await refresh();

  expect(deadlineMs).toBeGreaterThan(11_000);
  expect(deadlineMs).toBeLessThanOrEqual(12_000);
});

test.each([
  ["no targets", []],
  ["failed targets only", [FAILED]],
  ["deleted targets only", [{ ...TARGET, status: "deleted" }]],
])(
  "a refresh of the metrics of a post with %s returns zeros and does not call the delivery service",
  async (_, given) => {
    targets = given;
    const answer = await refresh();

    expect([answer.statusCode, answer.json()]).toMatchObject([
      200,
      { post: { id: POST_ID }, refresh: NONE },
    ]);
    expect(server.seen()).toEqual([]);
  },
);

test("a refresh of the metrics of an unknown post is answered as not found", async () => {
  await using other = await createRecordingServer(() => ({
    posts: { batchGetPosts: () => ({ posts: [] }) },
  }));
  const options = { method: "POST", url: URL } as const;
  expect(summary(await other.send(options))).toEqual([404, "not_found"]);
  const malformed = { method: "POST", url: URL.replace(POST_ID, "nonsense") } as const;
  expect(summary(await server.send(malformed))).toEqual([404, "not_found"]);
});

test("a refresh of metrics refuses a body with fields and a query", async () => {
  targets = [TARGET];
  const withBody = await refresh({}, { payload: { force: true } });
  expect([summary(withBody), faults(withBody)]).toEqual([
    [400, "invalid_request"],
    ["additional_property /force"],
  ]);
  const withQuery = await refresh({}, { url: `${URL}?wait=1` });
  expect([summary(withQuery), faults(withQuery)]).toEqual([
    [400, "invalid_request"],
    ["additional_property /wait"],
  ]);
  expect(server.seen()).toEqual([]);
  expect((await refresh({}, { payload: {} })).statusCode).toBe(200);
});

test("a refresh of metrics needs the scope posts:read and no verified workspace", async () => {
  targets = [TARGET];
  expect(summary(await refresh({ scopes: withoutScope("posts:read") }))).toEqual([
    403,
    "insufficient_scope",
  ]);
  expect((await refresh({ scopes: ["posts:read"] })).statusCode).toBe(200);
});

test.each([
  [unavailable(undefined, 3_000), 503],
  [notFound(), 404],
  [conflict("account_reconnect_required"), 409],
])(
  "a refresh of metrics passes on the refusal %s of the delivery service",
  async (error, status) => {
    targets = [TARGET];
    expect(summary(await refresh({ error }))).toEqual([status, error.reason]);
  },
);

test("GET of the path for refreshing metrics is answered with 405 and the allowed method", async () => {
  const answer = await server.send({ url: URL });

  expect([summary(answer), answer.headers.allow]).toEqual([[405, "method_not_allowed"], "POST"]);
});
