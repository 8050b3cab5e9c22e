import { conflict, notFound, ServiceError, unprocessable } from "@postrider/shared/errors";
import { afterAll, expect, test } from "vitest";
import { faults, summary, type ErrorBody } from "./error-body.ts";
import { ACCOUNT_ID, WORKSPACE_ID } from "./fixture.ts";
import {
  AT,
  COMMENT,
  COMMENT_RECORD,
  createRecordingServer,
  INSTANT,
  withoutScope,
} from "./recording-server.ts";

const RULE_ID = "01936a5e-7d2b-7000-8000-00000000000c";
const JOB_ID = "01936a5e-7d2b-7000-8000-00000000000d";
const RUN_ID = "01936a5e-7d2b-7000-8000-00000000000e";
const RULES = "/api/v1/automations/partner-dm-rules";
const RULE_PATH = `${RULES}/${RULE_ID}`;
const RUNS = "/api/v1/automations/partner-dm-runs";
const JOBS = "/api/v1/automations/partner-dm-backfills";
const JOB_PATH = `${JOBS}/${JOB_ID}`;
const PREVIEW = `${JOBS}/preview?ruleId=${RULE_ID}&mediaId=180_1`;

const RULE = {
  id: RULE_ID,
  accountId: ACCOUNT_ID,
  name: "Prices",
  keywords: ["price", "가격"],
  match: "any",
  excludeKeywords: ["refund"],
  message: "See our list",
  status: "draft",
  createdAt: AT,
  updatedAt: AT,
};
const RULE_RECORD = { ...RULE, mediaIds: null, createdAt: INSTANT, updatedAt: INSTANT };
const RUN = {
  id: RUN_ID,
  ruleId: RULE_ID,
  commentId: "179_1",
  mediaId: "180_1",
  author: COMMENT.author,
  status: "skipped",
  reason: "excluded",
  createdAt: AT,
};
const JOB = {
  id: JOB_ID,
  ruleId: RULE_ID,
  mediaId: "180_1",
  status: "ready",
  counts: { scanned: 3n, matched: 2n, prepared: 1n, skipped: 1n },
  createdAt: AT,
  updatedAt: AT,
};
const JOB_SUMMARY = {
  ...JOB,
  counts: { scanned: 3, matched: 2, prepared: 1, skipped: 1 },
  sending: "blocked",
  createdAt: INSTANT,
  updatedAt: INSTANT,
};
const RESULTS = [
  { comment: COMMENT, outcome: "prepared" },
  { comment: COMMENT, outcome: "skipped", reason: "excluded" },
];
const JOB_RECORD = {
  ...JOB_SUMMARY,
  results: [
    { comment: COMMENT_RECORD, outcome: "prepared", reason: null },
    { comment: COMMENT_RECORD, outcome: "skipped", reason: "excluded" },
  ],
  nextCursor: "more",
};
const NEW_RULE = { accountId: ACCOUNT_ID, name: "Prices", keywords: ["price"], message: "See" };
const NEW_JOB = { ruleId: RULE_ID, mediaId: "180_1" };

const job = { backfill: JOB, results: RESULTS, nextCursor: "more" };
const server = await createRecordingServer((answer) => ({
  automations: {
    listAutomationRules: (request) =>
      answer(request, { rules: [{ ...RULE, media: { ids: ["180_1"] } }], nextCursor: "next" }),
    createAutomationRule: (request) =>
      answer(request, { rule: RULE, replayed: request.idempotency !== undefined }),
    updateAutomationRule: (request) => answer(request, { rule: RULE }),
    listAutomationRuns: (request) =>
      answer(request, { runs: [RUN, { ...RUN, author: undefined, reason: undefined }] }),
    previewBackfill: (request) =>
      answer(request, { items: [{ comment: COMMENT, outcome: "prepare" }], nextCursor: "p" }),
    listBackfills: (request) => answer(request, { backfills: [JOB] }),
    createBackfill: (request) =>
      answer(request, { ...job, replayed: request.idempotency !== undefined }),
    getBackfill: (request) => answer(request, job),
    updateBackfill: (request) => answer(request, job),
  },
}));
afterAll(() => server[Symbol.asyncDispose]());

const post = (url: string, payload: object, headers: Record<string, string> = {}) =>
  server.send({ method: "POST", url, payload, headers });
const patch = (url: string, payload: object) => server.send({ method: "PATCH", url, payload });

test("a list of automation rules is returned as one page with the cursor of the next page, and shows the media of each rule", async () => {
  const answer = await server.send({ url: `${RULES}?limit=1&cursor=c` });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    rules: [{ ...RULE_RECORD, mediaIds: ["180_1"] }],
    nextCursor: "next",
  });
  expect(server.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID, limit: 1, cursor: "c" }]);
});

test("POST /automations/partner-dm-rules answers 201 with the location of the draft, and sends the defaults to the delivery service", async () => {
  const answer = await post(RULES, NEW_RULE);

  expect(answer.statusCode).toBe(201);
  expect(answer.headers.location).toBe(RULE_PATH);
  expect(answer.headers).not.toHaveProperty("idempotent-replayed");
  expect(answer.json()).toEqual(RULE_RECORD);
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, ...NEW_RULE, match: "any", excludeKeywords: [] },
  ]);
  expect(server.seen()[0]).not.toHaveProperty("media");
  expect(server.seen()[0]).not.toHaveProperty("idempotency");
});

test.each([
  [null, undefined],
  [[], []],
  [
    ["180_1", "a/b"],
    ["180_1", "a/b"],
  ],
])(
  "for a new automation rule with the mediaIds %j, the gateway sends the media %j to the delivery service",
  async (mediaIds, ids) => {
    const answer = await post(RULES, { ...NEW_RULE, mediaIds }, { "idempotency-key": "k-1" });

    expect([answer.statusCode, answer.headers["idempotent-replayed"]]).toEqual([201, "true"]);
    const [request] = server.seen() as [{ media?: { ids: string[] } }];
    expect(request.media?.ids).toEqual(ids);
    expect(request).toMatchObject({ idempotency: { key: "k-1" } });
  },
);

const MANY = Array.from({ length: 51 }, (_, index) => `word ${index}`);

test.each([
  [{}, ["required /accountId", "required /keywords", "required /message", "required /name"]],
  [{ ...NEW_RULE, accountId: ACCOUNT_ID.toUpperCase() }, ["format /accountId"]],
  [{ ...NEW_RULE, name: "" }, ["format /name", "too_short /name"]],
  [{ ...NEW_RULE, name: " " }, ["format /name"]],
  [{ ...NEW_RULE, keywords: [] }, ["min_items /keywords"]],
  [{ ...NEW_RULE, keywords: MANY }, ["max_items /keywords"]],
  [{ ...NEW_RULE, keywords: ["  "] }, ["format /keywords/0"]],
  [{ ...NEW_RULE, excludeKeywords: MANY }, ["max_items /excludeKeywords"]],
  [{ ...NEW_RULE, excludeKeywords: null }, ["type /excludeKeywords"]],
  [{ ...NEW_RULE, mediaIds: ["a", "a"] }, ["unique /mediaIds/1"]],
  [{ ...NEW_RULE, mediaIds: [""] }, ["too_short /mediaIds/0"]],
  [{ ...NEW_RULE, mediaIds: ["x".repeat(513)] }, ["too_long /mediaIds/0"]],
  [{ ...NEW_RULE, match: "some" }, ["not_allowed /match"]],
  [{ ...NEW_RULE, message: " " }, ["format /message"]],
  [{ ...NEW_RULE, message: "x".repeat(1_001) }, ["too_long /message"]],
  [{ ...NEW_RULE, message: "가".repeat(334) }, ["too_many_bytes /message"]],
  [{ ...NEW_RULE, status: "active" }, ["additional_property /status"]],
])(
  "a new automation rule with the body %j is refused, and the error says what is wrong",
  async (body, expected) => {
    const answer = await post(RULES, body);

    expect(summary(answer)).toEqual([400, "invalid_request"]);
    expect(faults(answer)).toEqual(expected);
    expect(server.seen()).toEqual([]);
  },
);

test("an automation rule's private reply may have 1,000 bytes, and one of 1,001 bytes is refused with the limit and its size", async () => {
  const longest = `${"가".repeat(333)}x`;
  expect((await post(RULES, { ...NEW_RULE, message: longest })).statusCode).toBe(201);
  for (const answer of [
    await post(RULES, { ...NEW_RULE, message: `${longest}x` }),
    await patch(RULE_PATH, { message: `${longest}x` }),
  ])
    expect(answer.json<ErrorBody>().error.details).toEqual([
      {
        code: "too_many_bytes",
        message:
          "This text is too long: 1001 bytes in UTF-8, at most 1000 are allowed. Shorten it.",
        path: "/message",
        limit: 1000,
        actual: 1001,
        unit: "bytes",
      },
    ]);
});

test.each([
  [{ name: "Other" }, { name: "Other", allMedia: false }],
  [{ mediaIds: null }, { allMedia: true }],
  [{ mediaIds: [] }, { allMedia: false, media: { ids: [] } }],
  [{ keywords: ["a"] }, { keywords: { words: ["a"] } }],
  [{ excludeKeywords: [] }, { excludeKeywords: { words: [] } }],
  [
    { match: "exact", message: "Hi" },
    { match: "exact", message: "Hi" },
  ],
  [{ status: "active" }, { status: "active" }],
  [{ status: "draft" }, { status: "draft" }],
  [{ status: "paused" }, { status: "paused" }],
  [{ status: "revoked" }, { status: "revoked" }],
])(
  "a change of an automation rule with the body %j sends the delivery service only the fields of this body",
  async (body, expected) => {
    const answer = await patch(RULE_PATH, body);

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual(RULE_RECORD);
    expect(server.seen()).toMatchObject([
      { workspaceId: WORKSPACE_ID, ruleId: RULE_ID, ...expected },
    ]);
    const fields = ["name", "media", "keywords", "match", "excludeKeywords", "message", "status"];
    const sent = fields.filter((field) => field in (server.seen()[0] ?? {}));
    expect(sent).toEqual(fields.filter((field) => field in expected));
  },
);

test.each([
  [{}, ["min_properties "]],
  [{ accountId: ACCOUNT_ID }, ["additional_property /accountId"]],
  [{ status: "stopped" }, ["not_allowed /status"]],
  [{ name: null }, ["type /name"]],
  [{ keywords: [] }, ["min_items /keywords"]],
])(
  "a change of an automation rule with the body %j is refused, and the error says what is wrong",
  async (body, expected) => {
    const answer = await patch(RULE_PATH, body);

    expect(summary(answer)).toEqual([400, "invalid_request"]);
    expect(faults(answer)).toEqual(expected);
    expect(server.seen()).toEqual([]);
  },
);

test("the list of automation runs passes its filters, and has null for an unknown author and for the reason of a sent reply", async () => {
  const answer = await server.send({ url: `${RUNS}?ruleId=${RULE_ID}&status=skipped&limit=100` });

  expect(answer.statusCode).toBe(200);
  const record = { ...RUN, createdAt: INSTANT };
  expect(answer.json()).toEqual({
    runs: [record, { ...record, author: { id: null, username: null }, reason: null }],
    nextCursor: null,
  });
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, ruleId: RULE_ID, status: "skipped", limit: 100 },
  ]);
});

test.each([
  [`${RUNS}?ruleId=nonsense`, "format /ruleId"],
  [`${RUNS}?ruleId=${RULE_ID.toUpperCase()}`, "format /ruleId"],
  [`${RUNS}?status=waiting`, "not_allowed /status"],
  [`${RUNS}?status=sent&status=failed`, "repeated_parameter /status"],
  [`${RUNS}?limit=101`, "too_large /limit"],
  [`${RULES}?status=draft`, "additional_property /status"],
  [`${JOBS}?ruleId=${RULE_ID}`, "additional_property /ruleId"],
  [`${JOB_PATH}?limit=0`, "too_small /limit"],
  [`${JOB_PATH}?page=2`, "additional_property /page"],
  [`${JOBS}/preview?mediaId=a`, "required /ruleId"],
  [`${JOBS}/preview?ruleId=${RULE_ID}`, "required /mediaId"],
  [`${JOBS}/preview?ruleId=${RULE_ID}&mediaId=`, "too_short /mediaId"],
  [`${PREVIEW}%00`, "nul_character "],
  [`${PREVIEW}&limit=5`, "additional_property /limit"],
])("GET %s is refused with the error %s", async (url, fault) => {
  const answer = await server.send({ url });

  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(faults(answer)).toEqual([fault]);
  expect(server.seen()).toEqual([]);
});

test("GET of the path `preview` of backfill jobs is routed to the preview, not to a backfill job with the id `preview`", async () => {
  const answer = await server.send({ url: `${PREVIEW}%2F2&cursor=c` });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    comments: [{ comment: COMMENT_RECORD, outcome: "prepare", reason: null }],
    nextCursor: "p",
  });
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, ruleId: RULE_ID, mediaId: "180_1/2", cursor: "c" },
  ]);
  const other = await patch(`${JOBS}/preview`, { action: "pause" });
  expect([summary(other), other.headers.allow]).toEqual([[405, "method_not_allowed"], "GET, HEAD"]);
});

test("the list of backfill jobs does not contain the results of these jobs", async () => {
  const answer = await server.send({ url: JOBS });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({ backfills: [JOB_SUMMARY], nextCursor: null });
});

test("POST /automations/partner-dm-backfills answers 202 with the new backfill job's location and its results for the first page of comments", async () => {
  const answer = await post(JOBS, NEW_JOB, { "idempotency-key": "k-1" });

  expect(answer.statusCode).toBe(202);
  expect(answer.headers).toMatchObject({ location: JOB_PATH, "idempotent-replayed": "true" });
  expect(answer.json()).toEqual(JOB_RECORD);
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, ...NEW_JOB, idempotency: { key: "k-1" } },
  ]);
});

test.each([
  [{}, ["required /mediaId", "required /ruleId"]],
  [{ ...NEW_JOB, ruleId: "nonsense" }, ["format /ruleId"]],
  [{ ...NEW_JOB, mediaId: "" }, ["too_short /mediaId"]],
  [{ ...NEW_JOB, mediaId: 180 }, ["type /mediaId"]],
  [{ ...NEW_JOB, sending: "enabled" }, ["additional_property /sending"]],
])(
  "a new backfill job is refused when the body is %j, and the error says what is wrong",
  async (body, expected) => {
    const answer = await post(JOBS, body);

    expect(summary(answer)).toEqual([400, "invalid_request"]);
    expect(faults(answer)).toEqual(expected);
    expect(server.seen()).toEqual([]);
  },
);

test("reading a backfill job returns the job and a page of the job's results", async () => {
  const answer = await server.send({ url: `${JOB_PATH}?limit=2&cursor=c` });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual(JOB_RECORD);
  expect(server.seen()).toMatchObject([
    { workspaceId: WORKSPACE_ID, backfillId: JOB_ID, limit: 2, cursor: "c" },
  ]);
});

test.each(["prepare_next_page", "pause", "resume"])(
  "the action %s that a client requests for a backfill job reaches the delivery service",
  async (action) => {
    const answer = await patch(JOB_PATH, { action });

    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toEqual(JOB_RECORD);
    expect(server.seen()).toMatchObject([
      { workspaceId: WORKSPACE_ID, backfillId: JOB_ID, action },
    ]);
  },
);

test.each([
  [{}, ["required /action"]],
  [{ action: "send" }, ["not_allowed /action"]],
  [{ action: "pause", limit: 1 }, ["additional_property /limit"]],
])(
  "a request to change a backfill job is refused when its body is %j, and the error says what is wrong",
  async (body, expected) => {
    const answer = await patch(JOB_PATH, body);

    expect(summary(answer)).toEqual([400, "invalid_request"]);
    expect(faults(answer)).toEqual(expected);
    expect(server.seen()).toEqual([]);
  },
);

const REQUESTS = [
  ["GET", RULES, undefined, "automations:read"],
  ["POST", RULES, NEW_RULE, "automations:write"],
  ["PATCH", RULE_PATH, { status: "active" }, "automations:write"],
  ["GET", RUNS, undefined, "automations:read"],
  ["GET", PREVIEW, undefined, "automations:read"],
  ["GET", JOBS, undefined, "automations:read"],
  ["POST", JOBS, NEW_JOB, "automations:write"],
  ["GET", JOB_PATH, undefined, "automations:read"],
  ["PATCH", JOB_PATH, { action: "resume" }, "automations:write"],
] as const;

test.each(REQUESTS)(
  "the request %s %s with the body %j needs the scope %s",
  async (method, url, body, scope) => {
    const payload = body === undefined ? {} : { payload: body };
    const answer = await server.send({ method, url, ...payload }, { scopes: withoutScope(scope) });

    expect(summary(answer)).toEqual([403, "insufficient_scope"]);
    expect(answer.json<ErrorBody>().error.details?.[0]?.code).toBe(scope);
    const allowed = await server.send({ method, url, ...payload }, { scopes: [scope] });
    expect(allowed.statusCode).toBeLessThan(300);
  },
);

test.each(REQUESTS)(
  "the gateway passes on the delivery service's refusals of %s %s with the body %j",
  async (method, url, body) => {
    const payload = body === undefined ? {} : { payload: body };
    for (const [error, status] of [
      [notFound(), 404],
      [conflict("invalid_transition"), 409],
      [conflict("account_reconnect_required"), 409],
      [unprocessable("validation_failed", [{ code: "platform_unsupported" }]), 422],
      [new ServiceError("invalid", "invalid_cursor"), 400],
      [new ServiceError("timeout", "upstream_timeout"), 504],
    ] as const) {
      const answer = await server.send({ method, url, ...payload }, { error });
      expect(summary(answer)).toEqual([status, error.reason]);
    }
  },
);

test.each([
  ["DELETE", RULE_PATH, "PATCH"],
  ["GET", RULE_PATH, "PATCH"],
  ["PUT", RULES, "GET, HEAD, POST"],
  ["POST", RUNS, "GET, HEAD"],
  ["DELETE", JOB_PATH, "GET, HEAD, PATCH"],
  ["POST", `${JOBS}/preview`, "GET, HEAD"],
] as const)(
  "the gateway answers %s %s with 405 and the allowed methods %s",
  async (method, url, allow) => {
    const answer = await server.send({ method, url });

    expect([summary(answer), answer.headers.allow]).toEqual([[405, "method_not_allowed"], allow]);
  },
);

test.each(["nonsense", RULE_ID.toUpperCase(), "%00", "previews"])(
  "a request with the id %s of an automation rule or backfill job is answered with 404",
  async (id) => {
    for (const answer of [
      await patch(`${RULES}/${id}`, { status: "active" }),
      await server.send({ url: `${JOBS}/${id}` }),
      await patch(`${JOBS}/${id}`, { action: "pause" }),
    ]) {
      expect(summary(answer)).toEqual([404, "not_found"]);
      expect(server.seen()).toEqual([]);
    }
  },
);
