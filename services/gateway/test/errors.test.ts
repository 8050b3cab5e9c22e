import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { ServiceError, wrongCell, type ErrorKind, type Violation } from "@postrider/shared/errors";
import type { InjectOptions } from "fastify";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import { summary, type ErrorBody } from "./error-body.ts";
import {
  ACCOUNT_ID,
  admitted,
  createTestServer,
  POST,
  POST_ID,
  type Peers,
  pageOf,
} from "./fixture.ts";

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const MEBIBYTE = 1024 * 1024;

/** Replaces handlers of the in-memory services. Each test sets the handlers that it needs. */
let peers: NonNullable<Peers["posts"]> = {};
let admission: AdmissionResult = admitted();

// All tests of this file share one server, which keeps no state between requests.
const app = await createTestServer(
  {
    posts: {
      createPost: (...call) => peers.createPost?.(...call) ?? {},
      batchGetPosts: (...call) => peers.batchGetPosts?.(...call) ?? {},
      listPosts: (...call) => peers.listPosts?.(...call) ?? {},
    },
  },
  () => admission,
);
afterAll(() => app.close());

async function ask(
  request: InjectOptions,
  posts: NonNullable<Peers["posts"]> = {},
  result: AdmissionResult = admitted(),
) {
  peers = posts;
  admission = result;
  return await app.inject(request);
}

type Answer = Awaited<ReturnType<typeof ask>>;

function errorOf(answer: Answer): ErrorBody["error"] {
  return answer.json<ErrorBody>().error;
}

const limit = {
  policy: "workspace",
  quota: 600,
  windowSeconds: 60,
  remaining: 0,
  resetSeconds: 60,
} as const;
const rateLimited: AdmissionResult = {
  kind: "rate_limited",
  workspaceId: "w",
  retryAfterSeconds: 7,
  limit,
};
const addressLimited: AdmissionResult = {
  kind: "rate_limited",
  workspaceId: undefined,
  retryAfterSeconds: 9,
  limit: { ...limit, policy: "address", quota: 120 },
};
const unauthenticated: AdmissionResult = {
  kind: "unauthenticated",
  limit: { ...limit, policy: "address" },
};

const elsewhere: AdmissionResult = {
  kind: "wrong_cell",
  limit: { ...limit, policy: "address" },
  cell: "us1",
  cellAddress: "https://us1.example.com",
};

const body = { content: "Hello", accountIds: [ACCOUNT_ID] };
const create = (payload: unknown = body, headers: Record<string, string> = {}): InjectOptions => ({
  method: "POST",
  url: "/api/v1/posts",
  headers: { "content-type": "application/json", ...headers },
  payload: Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
});
const createPost = () => ({ post: POST, replayed: false });

const cases: readonly [number, string, ErrorKind][] = [
  [400, "invalid_request", "invalid"],
  [400, "invalid_cursor", "invalid"],
  [404, "not_found", "not_found"],
  [409, "account_reconnect_required", "conflict"],
  [409, "duplicate_content", "conflict"],
  [409, "idempotency_conflict", "conflict"],
  [409, "invalid_transition", "conflict"],
  [412, "precondition_failed", "conflict"],
  [413, "payload_too_large", "invalid"],
  [422, "validation_failed", "unprocessable"],
  [422, "quota_exceeded", "unprocessable"],
  [422, "idempotency_key_reused", "unprocessable"],
  [500, "internal", "internal"],
  [503, "unavailable", "unavailable"],
  [504, "upstream_timeout", "timeout"],
];

test.each(cases)(
  "the gateway answers an error of another service with %i %s",
  async (status, reason, kind) => {
    const answer = await ask(create(), {
      createPost: () => {
        throw new ServiceError(kind, reason);
      },
    });
    expect(summary(answer)).toEqual([status, reason]);
    expect(errorOf(answer).message).toMatch(/^[A-Z].*\.$/);
    expect(errorOf(answer)).not.toHaveProperty("details");
    expect(answer.headers["content-type"]).toBe("application/json; charset=utf-8");
    expect(answer.headers["x-request-id"]).toMatch(UUID_V7);
    expect(answer.headers["ratelimit-policy"]).toBe('"workspace";q=600;w=60');
  },
);

test("the gateway answers an error of another service with every detail of the error", async () => {
  const violation: Violation = {
    code: "content_too_long",
    path: "/content",
    accountId: ACCOUNT_ID,
    platform: "x",
    limit: 280,
    actual: 281,
  };
  const answer = await ask(create(), {
    createPost: () => {
      throw new ServiceError("unprocessable", "validation_failed", [violation]);
    },
  });
  expect(errorOf(answer).details).toEqual([
    {
      ...violation,
      message:
        "The text is too long: it counts 281, at most 280 characters are allowed. Shorten it.",
      unit: "characters",
    },
  ]);
});

test("a request for a workspace of another cell is answered with 421 and that cell's address, which no client follows by itself", async () => {
  const address = "https://us1.example.com";
  const answer = await ask(create(), {
    createPost: () => {
      throw wrongCell("us1", address);
    },
  });
  expect(summary(answer)).toEqual([421, "wrong_cell"]);
  expect(errorOf(answer).message).toBe(
    "The workspace of this API key is in another cell, us1. Send the request to https://us1.example.com. If it does not accept the key, the workspace has moved: ask the operator for a new key.",
  );
  expect(errorOf(answer).details).toMatchObject([{ code: "wrong_cell", cell: "us1", address }]);
  expect(answer.headers).toMatchObject({ "x-postrider-cell-address": address });
  expect(answer.headers).not.toHaveProperty("location");
});

test("the Retry-After header is in whole seconds and at least 1", async () => {
  for (const [retryAfterMs, seconds] of [
    [1, "1"],
    [1000, "1"],
    [1001, "2"],
  ] as const) {
    const answer = await ask(create(), {
      createPost: () => {
        throw new ServiceError("conflict", "idempotency_conflict", [], { retryAfterMs });
      },
    });
    expect(answer.headers["retry-after"]).toBe(seconds);
  }
});

test("the gateway answers an error of another service in Korean to a client that prefers Korean", async () => {
  const answer = await ask({
    url: "/api/v1/posts/nonsense",
    headers: { "accept-language": "ko-KR,ko;q=0.9,en;q=0.8" },
  });
  expect(errorOf(answer)).toEqual({
    code: "not_found",
    message: expect.stringMatching(/^경로의 id가 올바르지 않습니다\("nonsense"\)\. /),
    details: [
      {
        code: "malformed_id",
        message: expect.stringMatching(/^경로의 id가 올바르지 않습니다/),
        expected: "a UUID in lower case, such as 01936a5e-7d2b-7000-8000-000000000001",
        found: '"nonsense"',
      },
    ],
  });
});

test("an answer never contains the cause of an internal error", async () => {
  const answer = await ask(create(), {
    createPost: () => {
      throw new Error("password=hunter2 at db-1.internal:5432");
    },
  });
  expect(summary(answer)).toEqual([500, "internal"]);
  expect(answer.body).not.toMatch(/hunter2|db-1|stack|createPost/);
});

test("every path of the API is answered with 401 without a valid API key", async () => {
  for (const url of [
    "/api/v1/posts",
    "/api/v1/nothing",
    "/api/v1",
    "/api/v1/posts/x?y=1",
    "/%61pi/v1/posts",
    "/api/v1/posts/%ff",
  ]) {
    const answer = await ask({ url }, {}, unauthenticated);
    expect(summary(answer), url).toEqual([401, "unauthenticated"]);
    expect(answer.headers["www-authenticate"]).toBe("Bearer");
  }
});

test.each([
  [undefined, undefined],
  ["", undefined],
  ["Basic abc", undefined],
  ["Bearer", undefined],
  ["Bearer a b", undefined],
  ["Bearer abc", "abc"],
  ["bearer  abc ", "abc"],
])(
  "from the Authorization header %j, the gateway reads the API key %j (undefined: none)",
  async (authorization, key) => {
    const keys: unknown[] = [];
    await using own = await createTestServer({}, (request) => {
      keys.push(request.key);
      return unauthenticated;
    });
    await own.inject({
      url: "/api/v1/posts",
      headers: authorization === undefined ? {} : { authorization },
    });
    expect(keys).toEqual([key]);
  },
);

test.each([
  [{ kind: "workspace_required", limit, workspaceIds: [] }, 400, "workspace_required"],
  [{ kind: "workspace_forbidden", limit, workspaceIds: [] }, 403, "workspace_forbidden"],
  [elsewhere, 421, "wrong_cell"],
  [rateLimited, 429, "rate_limited"],
  [addressLimited, 429, "rate_limited"],
  [{ kind: "unavailable", retryAfterSeconds: 1 }, 503, "unavailable"],
] as const)(
  "a request with the admission result %o is answered with %i %s",
  async (admission, status, code) => {
    expect(summary(await ask(create(), {}, admission))).toEqual([status, code]);
  },
);

test.each(["workspace_required", "workspace_forbidden"] as const)(
  "the error %s lists the workspaces of the API key",
  async (kind) => {
    const workspaceIds = [ACCOUNT_ID, POST_ID];
    const { message, details } = errorOf(await ask(create(), {}, { kind, limit, workspaceIds }));
    expect(message).toContain(`: one of ${ACCOUNT_ID}, ${POST_ID}`);
    expect(details).toMatchObject([
      { path: "/X-Workspace-Id", in: "header", allowed: workspaceIds },
    ]);
  },
);

test.each([
  [admitted({ workspaceId: POST_ID }), [POST_ID]],
  [{ kind: "workspace_required", limit, workspaceIds: [ACCOUNT_ID] } as const, [ACCOUNT_ID]],
])(
  "the error for a name instead of an id in X-Workspace-Id lists the ids of the API key's workspaces",
  async (result, allowed) => {
    const request = { url: "/api/v1/posts", headers: { "x-workspace-id": "my-team" } };
    expect(errorOf(await ask(request, {}, result)).details).toMatchObject([{ allowed }]);
  },
);

test("the error for a request without a valid API key contains no workspace", async () => {
  const request = { url: "/api/v1/posts", headers: { "x-workspace-id": "my-team" } };
  for (const result of [unauthenticated, addressLimited])
    expect(errorOf(await ask(request, {}, result))).not.toHaveProperty("details");
});

test("the answer to a rate-limited request contains the header Retry-After and the state of the rate limit", async () => {
  const workspace = await ask({ url: "/api/v1/posts" }, {}, rateLimited);
  expect(workspace.headers).toMatchObject({
    "retry-after": "7",
    ratelimit: '"workspace";r=0;t=60',
    "ratelimit-policy": '"workspace";q=600;w=60',
  });
  const address = await ask({ url: "/api/v1/posts" }, {}, addressLimited);
  expect(address.headers).toMatchObject({
    "retry-after": "9",
    "ratelimit-policy": '"address";q=120;w=60',
  });
});

test.each(["", "nonsense", ACCOUNT_ID.toUpperCase(), `${ACCOUNT_ID}, ${ACCOUNT_ID}`])(
  "the X-Workspace-Id header %j is refused as malformed",
  async (id) => {
    const answer = await ask({ url: "/api/v1/posts", headers: { "x-workspace-id": id } });
    expect(summary(answer)).toEqual([400, "invalid_request"]);
  },
);

test("the error about a missing scope names the scope in its details", async () => {
  const admission = admitted({ scopes: new Set(["posts:read"]) });
  const { code, details } = errorOf(await ask(create(), {}, admission));
  expect([code, details?.map(({ code }) => code)]).toEqual(["insufficient_scope", ["posts:write"]]);
});

test("a workspace that is not verified can read posts but not write them", async () => {
  const admission = admitted({ verified: false });
  expect(summary(await ask(create(), {}, admission))).toEqual([403, "verification_required"]);
  const read = await ask({ url: "/api/v1/posts" }, {}, admission);
  expect(read.statusCode).toBe(200);
});

const huge = Buffer.alloc(MEBIBYTE + 1, "x");
const wrongEverything = create(huge, { "content-type": "text/plain", "x-workspace-id": "no" });
const noScope = admitted({ scopes: new Set(), verified: false });

test.each<[string, InjectOptions, AdmissionResult, number, string]>([
  ["401 before workspace", wrongEverything, unauthenticated, 401, "unauthenticated"],
  ["421 before workspace", wrongEverything, elsewhere, 421, "wrong_cell"],
  ["the address's 429 before workspace", wrongEverything, addressLimited, 429, "rate_limited"],
  ["workspace before the workspace's 429", wrongEverything, rateLimited, 400, "invalid_request"],
  ["429 before 404", { url: "/api/v1/nothing" }, rateLimited, 429, "rate_limited"],
  ["429 before 405", { method: "PUT", url: "/api/v1/posts" }, rateLimited, 429, "rate_limited"],
  ["404 before scope", { url: "/api/v1/nothing" }, noScope, 404, "not_found"],
  [
    "404 before 415",
    { ...wrongEverything, url: "/api/v1/nothing", headers: {} },
    admitted(),
    404,
    "not_found",
  ],
  ["405 before scope", { method: "PUT", url: "/api/v1/posts" }, noScope, 405, "method_not_allowed"],
  ["405 before 413", { ...create(huge), method: "PUT" }, admitted(), 405, "method_not_allowed"],
  ["scope before verification", create(), noScope, 403, "insufficient_scope"],
  ["scope before 404 of the id", { url: "/api/v1/posts/x" }, noScope, 403, "insufficient_scope"],
  [
    "verification before 415",
    create(huge, { "content-type": "text/plain" }),
    admitted({ verified: false }),
    403,
    "verification_required",
  ],
  [
    "415 before 413",
    create(huge, { "content-type": "text/plain" }),
    admitted(),
    415,
    "unsupported_media_type",
  ],
  ["413 before 400", create(huge), admitted(), 413, "payload_too_large"],
  [
    "413 of the text before 400",
    create({ content: "x".repeat(256 * 1024 + 1), extra: 1 }),
    admitted(),
    413,
    "payload_too_large",
  ],
  ["400 before 404 of the id", { url: "/api/v1/posts/x?y=1" }, admitted(), 400, "invalid_request"],
])(
  "a request with several mistakes is answered with the error that is first in the documented order: %s",
  async (_, request, admission, status, code) => {
    expect(summary(await ask(request, {}, admission))).toEqual([status, code]);
  },
);

test.each([
  "/",
  "/api/v1",
  "/api/v1/",
  "/api/v1/posts/",
  "/api/v1//posts",
  "/api/v1/Posts",
  `/api/v1/posts/${POST_ID}/x`,
])("the unknown path %s is answered with 404", async (url) => {
  expect(summary(await ask({ url }))).toEqual([404, "not_found"]);
});

test.each([
  "nonsense",
  POST_ID.toUpperCase(),
  `{${POST_ID}}`,
  `${POST_ID}0`,
  "x".repeat(2000),
  "%00",
  "%ff",
  "..%2f",
  "🙂",
])(
  "the malformed post id %j is answered with 404, without a call to the posts service",
  async (id) => {
    expect(summary(await ask({ url: `/api/v1/posts/${id}` }))).toEqual([404, "not_found"]);
  },
);

test.each([
  ["PUT", "/api/v1/posts", "GET, HEAD, POST"],
  ["DELETE", "/api/v1/accounts", "GET, HEAD"],
  ["OPTIONS", "/api/v1/posts", "GET, HEAD, POST"],
  ["PUT", `/api/v1/posts/${POST_ID}`, "DELETE, GET, HEAD, PATCH"],
  ["GET", "/api/v1/posts/validate", "POST"],
  ["GET", "/api/v1/posts/validate?x=1", "POST"],
  ["DELETE", "/api/v1/posts/validate", "POST"],
  ["PATCH", "/api/v1/posts/validate", "POST"],
  ["PUT", "/api/v1/posts/validate", "POST"],
  ["GET", `/api/v1/posts/${POST_ID}/publish`, "POST"],
  ["GET", `/api/v1/posts/${POST_ID}/retry`, "POST"],
  ["POST", "/api/v1/quota", "GET, HEAD"],
  ["DELETE", "/api/v1/queue-slots", "GET, HEAD, POST"],
  ["GET", `/api/v1/queue-slots/${POST_ID}`, "DELETE, PATCH"],
  ["POST", "/api/v1/openapi.json", "GET, HEAD"],
] as const)(
  "the method %s of %s is not allowed, and the Allow header lists %s",
  async (method, url, allow) => {
    const answer = await ask({ method, url });
    expect(summary(answer)).toEqual([405, "method_not_allowed"]);
    expect(answer.headers.allow).toBe(allow);
  },
);

test("a HEAD request is answered like a GET request, without the body", async () => {
  const posts = { batchGetPosts: () => ({ posts: [POST] }) };
  const found = await ask({ method: "HEAD", url: `/api/v1/posts/${POST_ID}` }, posts);
  expect([found.statusCode, found.headers.etag, found.body]).toEqual([200, '"3"', ""]);
  const missing = await ask({ method: "HEAD", url: "/api/v1/posts/x" }, posts);
  expect([missing.statusCode, missing.body]).toEqual([404, ""]);
  expect(missing.headers["x-request-id"]).toMatch(UUID_V7);
});

test.each([
  "/api/v1/posts?x=1",
  "/api/v1/posts?limit=0",
  "/api/v1/posts?limit=101",
  "/api/v1/posts?limit=1.0",
  "/api/v1/posts?limit=",
  "/api/v1/posts?limit=1&limit=1",
  "/api/v1/posts?cursor=",
  "/api/v1/accounts?limit=1",
  `/api/v1/posts/${POST_ID}?a`,
  "/api/v1/posts?cursor=a%00b",
  "/api/v1/posts?cursor=%ff",
  "/api/v1/posts?cursor=%ed%a0%80",
  "/api/v1/posts?cursor=%zz",
  "/api/v1/posts?status=",
  "/api/v1/posts?status=deleted",
  "/api/v1/posts?status=draft&status=draft",
  "/api/v1/posts?status=draft,scheduled",
  "/api/v1/posts?platform=myspace",
  "/api/v1/posts?platform=X",
  "/api/v1/posts?createdVia=api",
  "/api/v1/posts?createdVia=rest&createdVia=mcp",
  "/api/v1/posts?from=2026-02-29",
  "/api/v1/posts?to=2026-04-31",
  "/api/v1/posts?to=0000-01-01",
  "/api/v1/posts?from=2026-11-20T00:00:00Z",
  "/api/v1/posts?from=",
  "/api/v1/posts?from=2026-11-20&from=2026-11-20",
  "/api/v1/quota?platform=x",
  "/api/v1/queue-slots?limit=1",
])("the invalid query of %s is refused with exactly one error detail", async (url) => {
  const answer = await ask({ url });
  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(errorOf(answer).details).toHaveLength(1);
});

const range = { path: "/limit", minimum: 1, maximum: 100 };
const statuses = [
  "draft",
  "scheduled",
  "publishing",
  "published",
  "partial",
  "failed",
  "cancelled",
];
test.each([
  ["limit=0", { code: "too_small", ...range, limit: 1, actual: 0 }],
  ["limit=-7", { code: "too_small", ...range, limit: 1, actual: -7 }],
  ["limit=101", { code: "too_large", ...range, limit: 100, actual: 101 }],
  ["limit=ten", { code: "type", ...range, expected: "an integer from 1 to 100", found: '"ten"' }],
  ["limit=05", { code: "type", ...range }],
  ["limit=", { code: "type", ...range }],
  ["limit=99999999999999999999", { code: "type", ...range }],
  ["limit=5&limit=5", { code: "repeated_parameter", path: "/limit" }],
  ["status=deleted", { code: "not_allowed", path: "/status", allowed: statuses }],
  [
    "createdVia=api",
    { code: "not_allowed", path: "/createdVia", allowed: ["mcp", "rest", "dashboard"] },
  ],
  ["cursor=", { code: "too_short", path: "/cursor", limit: 1, actual: 0 }],
])("GET /posts?%s is refused, and the error details say what is allowed", async (query, fault) => {
  const answer = await ask({ url: `/api/v1/posts?${query}` });
  expect(errorOf(answer).details).toMatchObject([{ ...fault, in: "query" }]);
  expect(errorOf(answer).message).toMatch(/^query parameter \w+: [A-Z]/);
});

test("GET /posts passes the query parameter limit to the posts service as a number", async () => {
  const limits: number[] = [];
  const listPosts = ({ limit }: { limit: number }) => {
    limits.push(limit);
    return pageOf();
  };
  for (const query of ["?limit=1", "?limit=100", ""])
    expect((await ask({ url: `/api/v1/posts${query}` }, { listPosts })).statusCode).toBe(200);
  expect(limits).toEqual([1, 100, 20]);
});

test.each([
  "application/json",
  "application/json; charset=utf-8",
  "APPLICATION/JSON;charset=UTF-8",
  'application/json; charset="utf-8"',
])("a JSON body with the accepted content type %s is read", async (type) => {
  const answer = await ask(create(body, { "content-type": type }), { createPost });
  expect(answer.statusCode).toBe(202);
});

test.each([
  "text/plain",
  "application/json; charset=latin1",
  "application/jsonp",
  "text/json",
  "multipart/form-data",
  "nonsense",
  "",
])("a request body with the content type %j is refused", async (type) => {
  const answer = await ask(create(body, { "content-type": type }), { createPost });
  expect(summary(answer)).toEqual([415, "unsupported_media_type"]);
});

test.each(["text/plain", "application/json", "nonsense", "image/png; x"])(
  "an empty request body counts as absent, even with the content type %j",
  async (type) => {
    const request = {
      method: "POST",
      url: "/api/v1/posts",
      headers: { "content-type": type },
    } as const;
    for (const payload of [undefined, ""]) {
      const answer = await ask(payload === undefined ? request : { ...request, payload });
      expect(summary(answer)).toEqual([400, "invalid_request"]);
      expect(errorOf(answer).details).toMatchObject([
        {
          code: "body_required",
          path: "",
          expected: expect.stringMatching(
            /^a JSON object with content and accountIds, such as \{"content"/,
          ),
        },
      ]);
    }
  },
);

test("a request body of exactly 1 MiB is accepted", async () => {
  const text = JSON.stringify(body);
  const padded = Buffer.from(text.padEnd(MEBIBYTE, " "));
  const answer = await ask(create(padded), { createPost });
  expect(answer.statusCode).toBe(202);
});

test("the text and options of a post may have 256 KiB together, counted as JSON without white space", async () => {
  const options = '{ "x": { "title": "é" } }';
  const rest = 256 * 1024 - Buffer.byteLength('{"x":{"title":"é"}}');
  const bodyOf = (length: number) =>
    Buffer.from(
      `{"content":"${"é".repeat(length / 2)}${"e".repeat(length % 2)}","options":${options},"accountIds":["${ACCOUNT_ID}"]}`,
    );
  expect((await ask(create(bodyOf(rest)), { createPost })).statusCode).toBe(202);
  expect(summary(await ask(create(bodyOf(rest + 1))))).toEqual([413, "payload_too_large"]);
});

const bodies: readonly [string, string | Buffer, string, string][] = [
  ["invalid JSON", "{", "invalid_json", ""],
  ["text after the JSON value", "{} {}", "invalid_json", ""],
  ["a byte order mark", "\ufeff{}", "invalid_json", ""],
  ["bytes that are not UTF-8", Buffer.from([0x22, 0xff, 0x22]), "invalid_utf8", ""],
  ["a list instead of an object", "[]", "type", ""],
  ["null instead of an object", "null", "type", ""],
  ["a NUL character", '{"content":"\\u0000"}', "nul_character", "/content"],
  ["an unpaired surrogate", '{"content":"\\ud800"}', "unpaired_surrogate", "/content"],
  ["a NUL in a key", '{"options":{"\\u0000":{}}}', "nul_character", "/options"],
  ["no property content", '{"accountIds":[]}', "required", "/content"],
  ["no property accountIds", '{"content":""}', "required", "/accountIds"],
  ["an empty list of accounts", '{"content":"","accountIds":[]}', "min_items", "/accountIds"],
  [
    "101 accounts",
    JSON.stringify({
      content: "",
      accountIds: Array.from(
        { length: 101 },
        (_, index) => ACCOUNT_ID.slice(0, -3) + `${index}`.padStart(3, "0"),
      ),
    }),
    "max_items",
    "/accountIds",
  ],
  [
    "a repeated account id",
    JSON.stringify({ content: "", accountIds: [ACCOUNT_ID, ACCOUNT_ID] }),
    "unique",
    "/accountIds/1",
  ],
  [
    "an id in capitals",
    JSON.stringify({ content: "", accountIds: [ACCOUNT_ID.replace("a5e", "A5E")] }),
    "format",
    "/accountIds/0",
  ],
  [
    "an unknown property",
    JSON.stringify({ ...body, surprise: 1 }),
    "additional_property",
    "/surprise",
  ],
  [
    "an unknown option",
    JSON.stringify({ ...body, options: { x: { surprise: 1 } } }),
    "additional_property",
    "/options/x/surprise",
  ],
  [
    "an unknown value of an option",
    JSON.stringify({ ...body, options: { x: { privacy: "secret" } } }),
    "not_allowed",
    "/options/x/privacy",
  ],
  [
    "the key __proto__",
    `{"content":"","accountIds":["${ACCOUNT_ID}"],"__proto__":{}}`,
    "additional_property",
    "/__proto__",
  ],
  ["a number for text", JSON.stringify({ ...body, content: 5 }), "type", "/content"],
  ["null for a list", JSON.stringify({ ...body, mediaIds: null }), "type", "/mediaIds"],
  [
    "101 tags",
    JSON.stringify({ ...body, options: { x: { tags: Array.from({ length: 101 }, () => "a") } } }),
    "max_items",
    "/options/x/tags",
  ],
  ["65 levels of nesting", `${"[".repeat(65)}${"]".repeat(65)}`, "too_deep", ""],
];

test.each(bodies)("a request body with %s is refused", async (_, payload, code, path) => {
  const answer = await ask(create(Buffer.from(payload)));
  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(errorOf(answer).details).toContainEqual(expect.objectContaining({ code, path }));
});

test("the error about an invalid body lists all mistakes in the body", async () => {
  const answer = await ask(create({ content: 1, accountIds: [], mediaIds: ["x", "x"], extra: 1 }));
  const { details = [] } = errorOf(answer);
  expect(details.map(({ code, path }) => `${code} ${path}`).toSorted()).toEqual([
    "additional_property /extra",
    "format /mediaIds/0",
    "format /mediaIds/1",
    "min_items /accountIds",
    "type /content",
    "unique /mediaIds/1",
  ]);
});

test("the error about an invalid body also lists the mistakes in the query and the headers", async () => {
  const answer = await ask({
    ...create({ accountIds: [ACCOUNT_ID] }, { "idempotency-key": "a b" }),
    url: "/api/v1/posts?y=1",
  });
  const { details = [] } = answer.json<ErrorBody>().error;
  expect(details.map(({ code, path }) => `${code} ${path}`).toSorted()).toEqual([
    "additional_property /y",
    "invalid_header /Idempotency-Key",
    "required /content",
  ]);
});

test("the texts of a body reach the posts service exactly as they were sent", async () => {
  const content = ' \ud83d\ude00 e\u0301 \u00e9 \u200b\ufeff\u0001\r\n\t"\\ ';
  const seen: string[] = [];
  await ask(create({ ...body, content }), {
    createPost: (request) => {
      seen.push(request.content);
      return createPost();
    },
  });
  expect(seen).toEqual([content]);
});

test.each(["mine", "!~", "x".repeat(128)])(
  "a valid X-Request-Id header %j is returned in the answer",
  async (id) => {
    const answer = await ask({ url: "/api/v1/nothing", headers: { "x-request-id": id } });
    expect(answer.headers["x-request-id"]).toBe(id);
  },
);

test.each(["", "a b", "x".repeat(129), "é"])(
  "an invalid X-Request-Id header %j is replaced by a new id",
  async (id) => {
    const answer = await ask({ url: "/api/v1/nothing", headers: { "x-request-id": id } });
    expect(answer.headers["x-request-id"]).toMatch(UUID_V7);
  },
);

test.each(["", "x".repeat(256), "a b", "é", "a, a"])(
  "the malformed Idempotency-Key header %j is refused",
  async (key) => {
    const answer = await ask(create(body, { "idempotency-key": key }));
    expect(summary(answer)).toEqual([400, "invalid_request"]);
  },
);

test.each(["x".repeat(255), '"quoted"', "a,b", "!~"])(
  "the Idempotency-Key header %j is passed to the posts service unchanged",
  async (key) => {
    const seen: unknown[] = [];
    await ask(create(body, { "idempotency-key": key }), {
      createPost: (request) => {
        seen.push(request.idempotency?.key);
        return createPost();
      },
    });
    expect(seen).toEqual([key]);
  },
);

beforeAll(() => app.listen({ host: "127.0.0.1", port: 0 }));

/**
 * Sends raw headers and a body to the gateway, and reads until the gateway closes the connection.
 */
async function send(lines: readonly string[], body = ""): Promise<string> {
  const { port } = app.server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  socket.write([...lines, "Connection: close", "", body].join("\r\n"));
  return await text(socket);
}

test("a request target with scheme and host is routed like the same path without them", async () => {
  peers = {};
  admission = admitted();
  const answer = await send(["GET http://example.org/api/v1/posts HTTP/1.1", "Host: example.org"]);
  expect(answer).toMatch(/^HTTP\/1\.1 200 /);
  admission = unauthenticated;
  const refused = await send(["GET http://example.org/api/v1/posts HTTP/1.1", "Host: example.org"]);
  expect(refused).toMatch(/^HTTP\/1\.1 401 /);
});

test("bytes that are not HTTP are answered with the common error body", async () => {
  const answer = await send(["nonsense"]);
  expect(answer).toMatch(/^HTTP\/1\.1 400 /);
  expect(answer).toMatch(/\r\nx-request-id: [0-9a-f-]{36}\r\n/i);
  expect(answer).toMatch(/\{"error":\{"code":"invalid_request","message":"[^"]+"\}\}$/);
});

test("a client that sends its whole request body before it reads the response still learns that the body is too large", async () => {
  admission = admitted();
  const { port } = app.server.address() as AddressInfo;
  const answers = Array.from({ length: 10 }, async () => {
    const client = httpRequest({
      port,
      host: "127.0.0.1",
      method: "POST",
      path: "/api/v1/posts",
      agent: false,
      headers: { "content-type": "application/json" },
    });
    client.end(JSON.stringify({ content: "x".repeat(8 * MEBIBYTE) }));
    const [answer] = (await once(client, "response")) as [IncomingMessage];
    return [answer.statusCode, await text(answer)];
  });
  for (const answer of await Promise.all(answers))
    expect(answer).toEqual([413, expect.stringContaining('"payload_too_large"')]);
});

test("a request with too large headers is answered with the common error body", async () => {
  const answer = await send(["GET / HTTP/1.1", "Host: a", `X-Long: ${"x".repeat(20_000)}`]);
  expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
  expect(answer).toMatch(/\{"error":\{"code":"invalid_request","message":"[^"]+"\}\}$/);
});

test.each([
  ["text/plain", "5\r\nhello\r\n0", 415],
  ["nonsense", "5\r\nhello\r\n0", 415],
  ["text/plain", "0", 400],
  ["application/json", "2\r\n{}\r\n0", 400],
])(
  "a body of the type %s without a Content-Length and with the chunks %j is answered with %i",
  async (type, chunks, status) => {
    admission = admitted();
    const answer = await send(
      [
        "POST /api/v1/posts HTTP/1.1",
        "Host: a",
        `Content-Type: ${type}`,
        "Transfer-Encoding: chunked",
      ],
      `${chunks}\r\n\r\n`,
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  },
);
