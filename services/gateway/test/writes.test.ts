import { conflict, notFound, ServiceError, unprocessable } from "@postrider/shared/errors";
import type { InjectOptions } from "fastify";
import { afterAll, expect, test } from "vitest";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import { faults, summary } from "./error-body.ts";
import {
  ACCOUNT_ID,
  admitted,
  createTestServer,
  POST,
  POST_ID,
  POST_RECORD,
  WORKSPACE_ID,
  type Peers,
  postOf,
  pageOf,
} from "./fixture.ts";

type Posts = NonNullable<Peers["posts"]>;

const MEDIA_ID = "01936a5e-7d2b-7000-8000-00000000000b";
const PATH = `/api/v1/posts/${POST_ID}`;
const body = { content: "Hello", accountIds: [ACCOUNT_ID] };

/** The RPC handlers of the in-memory posts service. Each test sets the handlers that it needs. */
let peers: Posts = {};
let admission: AdmissionResult = admitted();
let calls: string[] = [];

// All tests of this file share one server, which keeps no state between requests.
const note = (name: keyof Posts): true => calls.push(name) > 0 || true;
const noting: Posts = {
  createPost: (...call) => (note("createPost") && peers.createPost?.(...call)) || {},
  validatePost: (...call) => (note("validatePost") && peers.validatePost?.(...call)) || {},
  getPost: (...call) => (note("getPost") && peers.getPost?.(...call)) || {},
  batchGetPosts: (...call) => (note("batchGetPosts") && peers.batchGetPosts?.(...call)) || {},
  listPosts: (...call) => (note("listPosts") && peers.listPosts?.(...call)) || {},
  updatePost: (...call) => (note("updatePost") && peers.updatePost?.(...call)) || {},
  deletePost: (...call) => (note("deletePost") && peers.deletePost?.(...call)) || {},
  publishPost: (...call) => (note("publishPost") && peers.publishPost?.(...call)) || {},
  retryPost: (...call) => (note("retryPost") && peers.retryPost?.(...call)) || {},
};
const app = await createTestServer({ posts: noting }, () => admission);
afterAll(() => app.close());

async function ask(request: InjectOptions, posts: Posts = {}, result = admitted()) {
  peers = posts;
  admission = result;
  calls = [];
  return await app.inject(request);
}

const create = (extra: object = {}): InjectOptions => ({
  method: "POST",
  url: "/api/v1/posts",
  payload: { ...body, ...extra },
});
const validate = (payload: object = body): InjectOptions => ({
  method: "POST",
  url: "/api/v1/posts/validate",
  payload,
});
const patch = (payload: unknown, headers = {}): InjectOptions => ({
  method: "PATCH",
  url: PATH,
  headers: { "content-type": "application/json", ...headers },
  payload: JSON.stringify(payload),
});
const remove = (headers = {}): InjectOptions => ({ method: "DELETE", url: PATH, headers });
const publish = (payload?: string, headers = {}): InjectOptions => ({
  method: "POST",
  url: `${PATH}/publish`,
  headers,
  ...(payload === undefined
    ? {}
    : { payload, headers: { "content-type": "application/json", ...headers } }),
});
const retry = (payload?: object): InjectOptions => ({
  method: "POST",
  url: `${PATH}/retry`,
  ...(payload === undefined ? {} : { payload }),
});

/** A scheduled post of which no target is published, as the REST API returns it. */
const SCHEDULED_RECORD = {
  id: POST_ID,
  status: "scheduled",
  content: "Later",
  scheduledAt: "2026-11-20T09:00:00.123Z",
  startedAt: null,
  publishedAt: null,
  createdVia: "rest",
  createdAt: "2026-11-18T11:06:40.000Z",
  updatedAt: "2026-11-18T11:06:40.000Z",
  mediaIds: [],
  options: {},
  queueSlotRuleId: "01936a5e-7d2b-7000-8000-00000000000c",
  media: [],
  targets: [
    {
      id: "01936a5e-7d2b-7000-8000-000000000003",
      accountId: ACCOUNT_ID,
      platform: "x",
      username: "ann",
      status: "pending",
      externalId: null,
      permalink: null,
      publishedAt: null,
      error: null,
      attemptCount: 0,
      nextAttemptAt: null,
      metrics: null,
    },
  ],
  attempts: [],
};
const SCHEDULED_AT = { seconds: 1_795_165_200n, nanos: 123_000_000 };
const SCHEDULED = postOf({ ...SCHEDULED_RECORD, version: 1n });

test("POST /posts answers a scheduled post with 202, its path, its ETag and its time", async () => {
  const seen: unknown[] = [];
  const answer = await ask(create({ scheduledAt: "2026-11-20T10:00:00.1239+01:00" }), {
    createPost: (request) => {
      seen.push(request);
      return { post: SCHEDULED, replayed: false };
    },
  });
  expect(answer.statusCode).toBe(202);
  expect(answer.headers).toMatchObject({ location: PATH, etag: '"1"' });
  expect(answer.headers).not.toHaveProperty("idempotent-replayed");
  expect(answer.json()).toEqual(SCHEDULED_RECORD);
  expect(seen).toEqual([
    {
      $typeName: "postrider.posts.v1.CreatePostRequest",
      workspaceId: WORKSPACE_ID,
      content: "Hello",
      accountIds: [ACCOUNT_ID],
      mediaIds: [],
      options: "",
      scheduledAt: {
        $typeName: "google.protobuf.Timestamp",
        seconds: 1_795_165_200n,
        nanos: 123_000_000,
      },
      createdVia: "rest",
      isDraft: false,
      queueSlot: false,
      force: false,
    },
  ]);
});

test.each([
  [{}, { isDraft: false, queueSlot: false, force: false }],
  [
    { isDraft: true, force: true },
    { isDraft: true, queueSlot: false, force: true },
  ],
  [
    { queueSlot: true, isDraft: false },
    { isDraft: false, queueSlot: true, force: false },
  ],
  [
    { isDraft: true, queueSlot: false, scheduledAt: "2026-11-20T09:00:00.123Z" },
    { isDraft: true, queueSlot: false, scheduledAt: SCHEDULED_AT },
  ],
  [{ scheduledAt: "0100-01-01T00:00:00Z" }, { scheduledAt: { seconds: -59_011_459_200n } }],
])("POST /posts passes the fields %o to the posts service as %o", async (extra, expected) => {
  const seen: unknown[] = [];
  const answer = await ask(create(extra), {
    createPost: (request) => {
      seen.push(request);
      return { post: SCHEDULED };
    },
  });
  expect(answer.statusCode).toBe(202);
  expect(seen).toMatchObject([expected]);
});

test.each([
  [{ queueSlot: true, scheduledAt: "2026-11-20T09:00:00Z" }, ["exclusive_fields /scheduledAt"]],
  [{ queueSlot: true, isDraft: true }, ["exclusive_fields /isDraft"]],
  [
    { queueSlot: true, isDraft: true, scheduledAt: "2026-11-20T09:00:00Z" },
    ["exclusive_fields /isDraft", "exclusive_fields /scheduledAt"],
  ],
  [{ queueSlot: "yes" }, ["type /queueSlot"]],
  [{ queueSlot: null, isDraft: 1, force: 0 }, ["type /force", "type /isDraft", "type /queueSlot"]],
  [{ scheduledAt: null }, ["type /scheduledAt"]],
  [{ scheduledAt: "2026-11-20T09:00:00" }, ["format /scheduledAt"]],
  [{ scheduledAt: "2026-11-20" }, ["format /scheduledAt"]],
  [{ scheduledAt: "2026-02-30T09:00:00Z" }, ["format /scheduledAt"]],
  [{ scheduledAt: "2026-12-31T23:59:60Z" }, ["format /scheduledAt"]],
  [{ scheduledAt: "2026-11-20 09:00:00Z" }, ["format /scheduledAt"]],
  [{ scheduledAt: "" }, ["format /scheduledAt"]],
  [{ scheduledAt: 1_795_165_200, extra: 1 }, ["additional_property /extra", "type /scheduledAt"]],
])(
  "POST /posts refuses the fields %o without calling the posts service",
  async (extra, expected) => {
    const answer = await ask(create(extra));
    expect(summary(answer)).toEqual([400, "invalid_request"]);
    expect(faults(answer)).toEqual(expected);
    expect(calls).toEqual([]);
  },
);

test("POST /posts answers an exceeded quota with the limit, its usage and the time when it resets", async () => {
  const answer = await ask(create(), {
    createPost: () => {
      throw unprocessable("quota_exceeded", [
        {
          code: "monthly",
          limit: 1000,
          used: 990n,
          reserved: 9n,
          requested: 2n,
          resetsAt: { seconds: 1_796_083_200n, nanos: 0 },
        },
        {
          code: "daily",
          limit: 50,
          used: 50n,
          reserved: 0n,
          requested: 1n,
          resetsAt: { seconds: 1_795_219_200n, nanos: 0 },
          accountId: ACCOUNT_ID,
          platform: "instagram",
        },
      ]);
    },
  });
  expect(answer.statusCode).toBe(422);
  expect(answer.json()).toEqual({
    error: {
      code: "quota_exceeded",
      message:
        "The monthly quota does not allow this: the limit is 1000, used 990, reserved 9, requested 2. Wait until the limit resets at 2026-12-01T00:00:00.000Z, or ask the operator for a higher one. instagram: The daily limit does not allow this: the limit is 50, used 50, reserved 0, requested 1. Wait until the limit resets at 2026-11-21T00:00:00.000Z, or choose a later day.",
      details: [
        {
          code: "monthly",
          message:
            "The monthly quota does not allow this: the limit is 1000, used 990, reserved 9, requested 2. Wait until the limit resets at 2026-12-01T00:00:00.000Z, or ask the operator for a higher one.",
          limit: 1000,
          unit: "publications",
          used: 990,
          reserved: 9,
          requested: 2,
          resetsAt: "2026-12-01T00:00:00.000Z",
        },
        {
          code: "daily",
          message:
            "The daily limit does not allow this: the limit is 50, used 50, reserved 0, requested 1. Wait until the limit resets at 2026-11-21T00:00:00.000Z, or choose a later day.",
          accountId: ACCOUNT_ID,
          platform: "instagram",
          limit: 50,
          unit: "publications",
          used: 50,
          reserved: 0,
          requested: 1,
          resetsAt: "2026-11-21T00:00:00.000Z",
        },
      ],
    },
  });
});

const valid: Posts = {
  validatePost: ({ scheduledAt }) => ({
    ...(scheduledAt === undefined ? {} : { scheduledAt }),
    targets: [{ accountId: ACCOUNT_ID, platform: "x" }],
  }),
};
const targets = [{ accountId: ACCOUNT_ID, platform: "x" }];

test("POST /posts/validate returns the accounts and the time for which a valid post would be scheduled", async () => {
  const now = await ask(validate(), valid);
  expect(now.statusCode).toBe(200);
  expect(now.json()).toEqual({ valid: true, scheduledAt: null, targets });
  const later = await ask(validate({ ...body, scheduledAt: "2026-11-20T10:00:00+01:00" }), valid);
  expect(later.json()).toEqual({ valid: true, scheduledAt: "2026-11-20T09:00:00.000Z", targets });
  expect(calls).toEqual(["validatePost"]);
});

test("POST /posts/validate passes the client's fields to the posts service", async () => {
  const seen: unknown[] = [];
  const payload = { ...body, mediaIds: [MEDIA_ID], options: { x: { tags: ["a"] } } };
  await ask(validate(payload), {
    validatePost: (request) => {
      seen.push(request);
      return {};
    },
  });
  expect(seen).toMatchObject([
    {
      workspaceId: WORKSPACE_ID,
      content: "Hello",
      accountIds: [ACCOUNT_ID],
      mediaIds: [MEDIA_ID],
      options: '{"x":{"tags":["a"]}}',
    },
  ]);
});

test.each(["queueSlot", "isDraft", "force"])(
  "POST /posts/validate refuses the field %s",
  async (field) => {
    const answer = await ask(validate({ ...body, [field]: true }));
    expect(summary(answer)).toEqual([400, "invalid_request"]);
    expect(faults(answer)).toEqual([`additional_property /${field}`]);
  },
);

test("POST /posts/validate is allowed for an unverified workspace", async () => {
  const reader = { verified: false, scopes: new Set(["posts:read"]) };
  expect((await ask(validate(), valid, admitted(reader))).statusCode).toBe(200);
});

test("GET /posts passes every filter to the posts service", async () => {
  const seen: unknown[] = [];
  const url =
    "/api/v1/posts?limit=7&cursor=abc&status=partial&platform=x&from=2026-11-01&to=2028-02-29&createdVia=mcp";
  const answer = await ask(
    { url },
    {
      listPosts: (request) => {
        seen.push(request);
        return pageOf(SCHEDULED_RECORD);
      },
    },
  );
  expect(seen).toEqual([
    {
      $typeName: "postrider.posts.v1.ListPostsRequest",
      workspaceId: WORKSPACE_ID,
      limit: 7,
      cursor: "abc",
      status: "partial",
      platform: "x",
      from: "2026-11-01",
      to: "2028-02-29",
      createdVia: "mcp",
    },
  ]);
  expect(answer.body).toBe(pageOf(SCHEDULED_RECORD).json);
});

const updatePost = () => ({ post: SCHEDULED });

test("PATCH /posts/{id} answers with the changed post and its new ETag", async () => {
  const answer = await ask(patch({ content: "Later" }), { updatePost });
  expect([answer.statusCode, answer.headers.etag]).toEqual([200, '"1"']);
  expect(answer.json()).toEqual(SCHEDULED_RECORD);
});

test.each([
  [{ content: "" }, { content: "" }],
  [{ accountIds: [ACCOUNT_ID] }, { accountIds: { values: [ACCOUNT_ID] } }],
  [{ mediaIds: [] }, { mediaIds: { values: [] } }],
  [{ options: {} }, { options: "{}" }],
  [{ options: { x: { title: "t", tags: [] } } }, { options: '{"x":{"title":"t","tags":[]}}' }],
  [{ scheduledAt: "2026-11-20T09:00:00.123Z" }, { scheduledAt: SCHEDULED_AT }],
])(
  "PATCH /posts/{id} with the body %j asks the posts service to change only the field in this body",
  async (payload, expected) => {
    const seen: object[] = [];
    const answer = await ask(patch(payload), {
      updatePost: (request) => {
        seen.push(request);
        return updatePost();
      },
    });
    expect(answer.statusCode).toBe(200);
    expect(seen).toMatchObject([{ workspaceId: WORKSPACE_ID, id: POST_ID, ...expected }]);
    const sent = new Set(Object.keys(seen[0] ?? {}));
    expect(sent).toEqual(new Set(["$typeName", "workspaceId", "id", ...Object.keys(expected)]));
  },
);

test.each([
  [{}, ["min_properties "]],
  [null, ["type "]],
  [[], ["type "]],
  [{ content: null }, ["type /content"]],
  [{ scheduledAt: null }, ["type /scheduledAt"]],
  [{ accountIds: [] }, ["min_items /accountIds"]],
  [{ accountIds: null, mediaIds: null }, ["type /accountIds", "type /mediaIds"]],
  [{ options: null }, ["type /options"]],
  [{ scheduledAt: "tomorrow" }, ["format /scheduledAt"]],
  [{ queueSlot: true }, ["additional_property /queueSlot"]],
  [
    { content: "a", isDraft: false, force: true },
    ["additional_property /force", "additional_property /isDraft"],
  ],
])("PATCH /posts/{id} refuses the body %j", async (payload, expected) => {
  const answer = await ask(patch(payload));
  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(faults(answer)).toEqual(expected);
  expect(calls).toEqual([]);
});

test("PATCH /posts/{id} without a body is refused", async () => {
  const answer = await ask({ method: "PATCH", url: PATH });
  expect(summary(answer)).toEqual([400, "invalid_request"]);
});

test("DELETE /posts/{id} answers 204 for a draft or scheduled post", async () => {
  const seen: unknown[] = [];
  const answer = await ask(remove(), {
    deletePost: (request) => {
      seen.push(request);
      return {};
    },
  });
  expect([answer.statusCode, answer.body]).toEqual([204, ""]);
  expect(answer.headers).not.toHaveProperty("content-type");
  expect(answer.headers).not.toHaveProperty("etag");
  expect(answer.headers).toMatchObject({ "ratelimit-policy": '"workspace";q=600;w=60' });
  expect(seen).toEqual([
    {
      $typeName: "postrider.posts.v1.DeletePostRequest",
      workspaceId: WORKSPACE_ID,
      id: POST_ID,
      locale: "en",
    },
  ]);
});

test("DELETE /posts/{id} answers 202 with what the posts service says of each target, in the client's language", async () => {
  const targets = [{ accountId: ACCOUNT_ID, platform: "x", status: "deleting", error: null }];
  const json = JSON.stringify({ id: POST_ID, status: "cancelled", targets });
  const locales: string[] = [];
  const deletePost: Posts["deletePost"] = ({ locale }) => (
    locales.push(locale),
    { json, version: 4n }
  );
  const answer = await ask(remove({ "accept-language": "ko" }), { deletePost });
  expect([answer.statusCode, answer.headers.etag, answer.body]).toEqual([202, '"4"', json]);
  expect(locales).toEqual(["ko"]);
});

const seen: unknown[] = [];
const publishPost: Posts["publishPost"] = (request) => {
  seen.push(request.force);
  return { post: POST };
};

test.each([
  ["no body", undefined, false],
  ["an empty body", "", false],
  ["force", '{"force":true}', true],
])("POST /posts/{id}/publish with %s answers 202 with the post", async (_, payload, force) => {
  seen.length = 0;
  const answer = await ask(publish(payload), { publishPost });
  expect([answer.statusCode, answer.headers.etag]).toEqual([202, '"3"']);
  expect(answer.json()).toEqual(POST_RECORD);
  expect(seen).toEqual([force]);
});

test.each([
  ["{}", ["required /force"]],
  ['{"force":false}', ["not_allowed /force"]],
  ['{"force":"true"}', ["type /force"]],
  ['{"force":null}', ["type /force"]],
  ['{"force":true,"at":1}', ["additional_property /at"]],
  ["null", ["type "]],
  ["[]", ["type "]],
  ["true", ["type "]],
])("POST /posts/{id}/publish refuses the body %s", async (payload, expected) => {
  const answer = await ask(publish(payload));
  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(faults(answer)).toEqual(expected);
  expect(calls).toEqual([]);
});

test("POST /posts/{id}/publish with an invalid query string reports only the query string and not the missing body", async () => {
  const answer = await ask({ ...publish(), url: `${PATH}/publish?y=1` });
  expect(answer.statusCode).toBe(400);
  expect(faults(answer)).toEqual(["additional_property /y"]);
});

test.each([[undefined], [{}]])(
  "POST /posts/{id}/retry with the body %j answers 202 with the post",
  async (payload) => {
    const seen: unknown[] = [];
    const answer = await ask(retry(payload), {
      retryPost: (request) => {
        seen.push(request);
        return { post: POST };
      },
    });
    expect([answer.statusCode, answer.headers.etag]).toEqual([202, '"3"']);
    expect(answer.json()).toEqual(POST_RECORD);
    expect(seen).toEqual([
      {
        $typeName: "postrider.posts.v1.RetryPostRequest",
        workspaceId: WORKSPACE_ID,
        id: POST_ID,
        locale: "en",
      },
    ]);
  },
);

test("POST /posts/{id}/retry refuses unknown fields instead of ignoring them", async () => {
  const answer = await ask(retry({ force: true, "a/b": 1 }));
  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(faults(answer)).toEqual(["additional_property /a~1b", "additional_property /force"]);
});

test("POST /posts/{id}/retry lists in its error the targets whose outcome is unknown", async () => {
  const answer = await ask(retry(), {
    retryPost: () => {
      throw conflict("nothing_to_retry", [
        { code: "outcome_unknown", accountId: ACCOUNT_ID, platform: "telegram" },
      ]);
    },
  });
  expect(answer.statusCode).toBe(409);
  expect(answer.json()).toEqual({
    error: {
      code: "nothing_to_retry",
      message:
        "telegram: It is not known whether this was published. Look at the account on the platform, and ask the operator to record what you see (postrider target resolve).",
      details: [
        {
          code: "outcome_unknown",
          message:
            "It is not known whether this was published. Look at the account on the platform, and ask the operator to record what you see (postrider target resolve).",
          accountId: ACCOUNT_ID,
          platform: "telegram",
        },
      ],
    },
  });
});

const posts: Posts = {
  getPost: () => ({ post: POST }),
  batchGetPosts: () => ({ posts: [POST] }),
  updatePost: ({ ifVersion }) => stillAt(ifVersion, { post: POST }),
  deletePost: ({ ifVersion }) => stillAt(ifVersion, {}),
  publishPost: ({ ifVersion }) => stillAt(ifVersion, { post: POST }),
};

/** Checks `ifVersion` like the posts service, for a post of version 3. */
function stillAt<T>(ifVersion: bigint | undefined, answer: T): T {
  if (ifVersion === undefined || ifVersion === 3n) return answer;
  throw new ServiceError("conflict", "precondition_failed");
}

test.each<[string | undefined, "accepted" | "refused"]>([
  [undefined, "accepted"],
  ["*", "accepted"],
  ['"3"', "accepted"],
  ['"2", "3"', "accepted"],
  ['"9","3" , W/"2"', "accepted"],
  ['"2"', "refused"],
  ['"1", "2"', "refused"],
  ['W/"3"', "refused"],
  ["3", "refused"],
  ["", "refused"],
  ['"03"', "refused"],
  ['"other"', "refused"],
  ['*, "3"', "refused"],
  ['"3" garbage', "refused"],
])(
  "PATCH, DELETE and POST publish compare the If-Match header with the version of the post: at version 3, %j is %s",
  async (value, result) => {
    const headers = value === undefined ? {} : { "if-match": value };
    const updated = await ask(patch({ content: "a" }, headers), posts);
    const removed = await ask(remove(headers), posts);
    const published = await ask(publish('{"force":true}', headers), posts);
    const answers = [updated, removed, published];
    const expected = result === "accepted" ? [200, 204, 202] : [412, 412, 412];
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(expected);
    const refused = answers.filter(({ statusCode }) => statusCode === 412);
    for (const answer of refused) expect(summary(answer)).toEqual([412, "precondition_failed"]);
  },
);

test("a request with If-Match for a post that does not exist is answered with 404", async () => {
  const missing = (): never => {
    throw notFound();
  };
  for (const value of ['"2"', "nonsense", '"1", "2"']) {
    const answer = await ask(remove({ "if-match": value }), {
      getPost: missing,
      deletePost: missing,
    });
    expect(summary(answer)).toEqual([404, "not_found"]);
  }
});

test("a request with an If-Match header needs an additional call to the posts service only if the header lists several versions", async () => {
  await ask(remove({ "if-match": '"3"' }), posts);
  expect(calls).toEqual(["deletePost"]);
  await ask(remove({ "if-match": '"3", "4"' }), posts);
  expect(calls).toEqual(["getPost", "deletePost"]);
});

test("the If-Match header is ignored by a read and a retry of a post", async () => {
  const headers = { "if-match": '"1"' };
  expect((await ask({ url: PATH, headers }, posts)).statusCode).toBe(200);
  const answer = await ask({ ...retry(), headers }, { retryPost: () => ({ post: POST }) });
  expect(answer.statusCode).toBe(202);
});

const writes: readonly [string, InjectOptions][] = [
  ["POST /posts", { method: "POST", url: "/api/v1/posts" }],
  ["PATCH /posts/{id}", { method: "PATCH", url: PATH }],
  ["DELETE /posts/{id}", { method: "DELETE", url: PATH }],
  ["POST /posts/{id}/publish", { method: "POST", url: `${PATH}/publish` }],
  ["POST /posts/{id}/retry", { method: "POST", url: `${PATH}/retry` }],
];

test.each(writes)(
  "the gateway checks for %s the scope, the workspace's verification, the content type, the size and the schema in this order",
  async (_, request) => {
    const huge = "x".repeat(1024 * 1024 + 1);
    const text = { ...request, headers: { "content-type": "text/plain" }, payload: huge };
    const json = { ...text, headers: { "content-type": "application/json" } };
    const noScope = admitted({ scopes: new Set(["posts:read"]), verified: false });
    expect(summary(await ask(text, {}, noScope))).toEqual([403, "insufficient_scope"]);
    const unverified = admitted({ verified: false });
    expect(summary(await ask(text, {}, unverified))).toEqual([403, "verification_required"]);
    expect(summary(await ask(text))).toEqual([415, "unsupported_media_type"]);
    expect(summary(await ask(json))).toEqual([413, "payload_too_large"]);
    const strange = { ...json, payload: '{"surprise":1}' };
    expect(summary(await ask(strange))).toEqual([400, "invalid_request"]);
    expect(calls).toEqual([]);
  },
);

test("a post with more than 256 KiB of text and options is refused as too large before its schema is checked", async () => {
  const payload = { content: "x".repeat(256 * 1024 + 1), surprise: 1 };
  for (const request of [create(payload), validate(payload), patch(payload)])
    expect(summary(await ask(request))).toEqual([413, "payload_too_large"]);
});

test.each([
  ["PATCH", "", { content: "a" }],
  ["DELETE", "", undefined],
  ["POST", "/publish", { force: true }],
  ["POST", "/retry", undefined],
] as const)(
  "the gateway refuses %s /posts/{id}%s for its invalid query string before it checks the id or calls the posts service",
  async (method, rest, payload) => {
    const request = {
      method,
      headers: { "if-match": "nonsense" },
      ...(payload === undefined ? {} : { payload }),
    };
    const url = `/api/v1/posts/${POST_ID.toUpperCase()}${rest}`;
    expect(summary(await ask({ ...request, url: `${url}?a=1` }))).toEqual([400, "invalid_request"]);
    expect(summary(await ask({ ...request, url }))).toEqual([404, "not_found"]);
    expect(calls).toEqual([]);
  },
);

test("PATCH /posts/{id} reports an invalid body before a malformed id", async () => {
  const answer = await ask({ ...patch({}), url: "/api/v1/posts/x" });
  expect(summary(answer)).toEqual([400, "invalid_request"]);
});

test.each([
  [409, "post_not_editable"],
  [409, "post_publishing"],
  [409, "invalid_transition"],
  [409, "nothing_to_retry"],
  [409, "no_queue_slot"],
])("the gateway answers an error of the posts service with %i %s", async (status, reason) => {
  const refuse = (): never => {
    throw conflict(reason);
  };
  for (const request of [patch({ content: "a" }), remove(), publish(), retry()]) {
    const answer = await ask(request, {
      updatePost: refuse,
      deletePost: refuse,
      publishPost: refuse,
      retryPost: refuse,
    });
    expect(summary(answer)).toEqual([status, reason]);
  }
});
