import {
  conflict,
  notFound,
  ServiceError,
  unavailable,
  unprocessable,
} from "@postrider/shared/errors";
import { anyText } from "@postrider/shared/testing/any-text";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { faults, summary, type ErrorBody } from "./error-body.ts";
import { ACCOUNT_ID, WORKSPACE_ID } from "./fixture.ts";
import {
  ACCOUNT_PATH,
  AT,
  COMMENT,
  COMMENT_RECORD,
  createRecordingServer,
  INSTANT,
  withoutScope,
} from "./recording-server.ts";

const ACTION_ID = "01936a5e-7d2b-7000-8000-00000000000c";
const ACTION = {
  id: ACTION_ID,
  accountId: ACCOUNT_ID,
  mediaId: "180_1",
  commentId: "179_1",
  type: "reply",
  text: "10 €",
  status: "pending",
  createdAt: AT,
};
const RECORD = { ...ACTION, error: null, createdAt: INSTANT, finishedAt: null };
const LIST = `${ACCOUNT_PATH}/media/180_1/comments`;
const ACTIONS = `${LIST}/179_1/actions`;
const RESULT = `/api/v1/comment-actions/${ACTION_ID}`;

const server = await createRecordingServer((answer) => ({
  comments: {
    listComments: (request) =>
      answer(request, {
        comments: [
          COMMENT,
          { id: "179_2", text: "", createdAt: AT, hidden: true, author: { username: "bo" } },
        ],
        nextCursor: "next",
      }),
    requestCommentAction: (request) =>
      answer(request, { action: ACTION, replayed: request.idempotency !== undefined }),
    getCommentAction: (request) => answer(request, { action: ACTION }),
  },
}));
afterAll(() => server[Symbol.asyncDispose]());

const act = (payload: object, headers: Record<string, string> = {}) =>
  server.send({ method: "POST", url: ACTIONS, payload, headers });

test("a list of comments is returned as one page with the cursor of the next page, and has null for fields that the platform does not return", async () => {
  const answer = await server.send({ url: `${LIST}?limit=50&cursor=abc` });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    comments: [
      COMMENT_RECORD,
      {
        id: "179_2",
        text: "",
        author: { id: null, username: "bo" },
        createdAt: INSTANT,
        likeCount: null,
        replyCount: null,
        hidden: true,
      },
    ],
    nextCursor: "next",
  });
  expect(server.seen()).toMatchObject([
    {
      workspaceId: WORKSPACE_ID,
      accountId: ACCOUNT_ID,
      mediaId: "180_1",
      limit: 50,
      cursor: "abc",
    },
  ]);
});

test.each([
  ["limit=0", "too_small /limit"],
  ["limit=51", "too_large /limit"],
  ["limit=ten", "type /limit"],
  ["limit=1&limit=2", "repeated_parameter /limit"],
  ["cursor=", "too_short /cursor"],
  ["cursor=a%00b", "nul_character "],
  ["status=hidden", "additional_property /status"],
])("the list of comments refuses the query %s with the error %s", async (query, fault) => {
  const answer = await server.send({ url: `${LIST}?${query}` });

  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(faults(answer)).toEqual([fault]);
  expect(server.seen()).toEqual([]);
});

test.each([
  ["a%2Fb", "a/b"],
  ["..%2F..%2Fme", "../../me"],
  ["%2E%2E%2Fa", "../a"],
  ["a%252Fb", "a%2Fb"],
  ["100%25", "100%"],
  ["a%20%3F%23b", "a ?#b"],
  ["%EA%B0%80", "가"],
  ["comments", "comments"],
  ["x".repeat(512), "x".repeat(512)],
])("the id %s of media in a path reaches the delivery service decoded", async (encoded, id) => {
  const url = `${ACCOUNT_PATH}/media/${encoded}/comments`;
  const list = await server.send({ url });
  expect([list.statusCode, server.seen()]).toMatchObject([200, [{ mediaId: id }]]);

  const action = `${url}/${encoded}/actions`;
  const answer = await server.send({ method: "POST", url: action, payload: { type: "hide" } });
  expect([answer.statusCode, server.seen()]).toMatchObject([202, [{ mediaId: id, commentId: id }]]);
});

test("every percent-encoded text of 1 to 512 characters without NUL reaches the delivery service as the id of media and of a comment", async () => {
  const possible = (text: string) => !text.includes("\0") && !/^\.\.?$/.test(text);
  const id = anyText({ minLength: 1, maxLength: 200 }).filter(possible);
  await fc.assert(
    fc.asyncProperty(id, id, async (mediaId, commentId) => {
      const [media, comment] = [encodeURIComponent(mediaId), encodeURIComponent(commentId)];
      const url = `${ACCOUNT_PATH}/media/${media}/comments/${comment}/actions`;
      await server.send({ method: "POST", url, payload: { type: "hide" } });
      expect(server.seen()).toMatchObject([{ mediaId, commentId }]);
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["an id with a NUL character", "a%00b", 400, "invalid_request", "nul_character "],
  ["an id that is not valid UTF-8", "a%FFb", 400, "invalid_request", "invalid_utf8 "],
  ["an id with a malformed escape", "a%zz", 400, "invalid_request", "invalid_utf8 "],
  ["an id of more than 512 characters", "x".repeat(513), 404, "not_found", undefined],
  ["an empty id", "", 404, "not_found", undefined],
  ["the id of two dots", "%2E%2E", 404, "not_found", "unknown_path undefined"],
  ["the id of one dot", ".", 404, "not_found", "unknown_path undefined"],
])(
  "a request with %s as its media id or comment id is not forwarded to the delivery service",
  async (_, encoded, status, code, fault) => {
    const payload = { type: "hide" };
    for (const answer of [
      await server.send({ url: `${ACCOUNT_PATH}/media/${encoded}/comments` }),
      await server.send({ method: "POST", url: `${LIST}/${encoded}/actions`, payload }),
    ]) {
      expect(summary(answer)).toEqual([status, code]);
      expect(faults(answer)).toEqual(fault === undefined ? [] : [fault]);
      expect(server.seen()).toEqual([]);
    }
  },
);

test("an action on a comment is answered with 202, its location and the pending action", async () => {
  const answer = await act({ type: "reply", text: "10 €" });

  expect(answer.statusCode).toBe(202);
  expect(answer.headers.location).toBe(RESULT);
  expect(answer.headers).not.toHaveProperty("idempotent-replayed");
  expect(answer.json()).toEqual(RECORD);
  expect(server.seen()).toMatchObject([
    {
      workspaceId: WORKSPACE_ID,
      accountId: ACCOUNT_ID,
      mediaId: "180_1",
      commentId: "179_1",
      type: "reply",
      text: "10 €",
    },
  ]);
  expect(server.seen()[0]).not.toHaveProperty("idempotency");
});

test("a repeated answer to a comment action is marked as such, and the delivery service receives the idempotency key and the body's fingerprint", async () => {
  const headers = { "idempotency-key": "k-1" };
  const fingerprintOf = async (payload: object) => {
    const answer = await act(payload, headers);
    expect(answer.headers["idempotent-replayed"]).toBe("true");
    const [{ idempotency }] = server.seen() as [{ idempotency: { fingerprint: string } }];
    expect(idempotency).toMatchObject({ key: "k-1" });
    return idempotency.fingerprint;
  };
  const first = await fingerprintOf({ type: "reply", text: "a" });
  expect(await fingerprintOf({ text: "a", type: "reply" })).toBe(first);
  expect(await fingerprintOf({ type: "reply", text: "b" })).not.toBe(first);
});

test.each([
  [{}, ["required /type"]],
  [{ type: "like" }, ["not_allowed /type"]],
  [{ type: "private_reply", text: "a" }, ["not_allowed /type"]],
  [{ type: "reply" }, ["required /text"]],
  [{ type: "reply", text: "" }, ["format /text", "too_short /text"]],
  [{ type: "reply", text: " \n\u3000" }, ["format /text"]],
  [{ type: "reply", text: null }, ["type /text"]],
  [{ type: "reply", text: "x".repeat(10_001) }, ["too_long /text"]],
  [{ type: "hide", text: "a" }, ["additional_property /text"]],
  [{ type: "unhide", text: "a" }, ["additional_property /text"]],
  [{ type: "hide", force: true }, ["additional_property /force"]],
])(
  "an action on a comment with the body %j is refused, and the error says what is wrong",
  async (body, expected) => {
    const answer = await act(body);

    expect(summary(answer)).toEqual([400, "invalid_request"]);
    expect(faults(answer)).toEqual(expected);
    expect(server.seen()).toEqual([]);
  },
);

test.each([
  ['{"type":"reply","text":"a\\u0000"}', "nul_character /text"],
  ['{"type":"reply","text":"\\ud800"}', "unpaired_surrogate /text"],
  ['{"type":"hide"', "invalid_json "],
])("a request for a comment action is refused if its body is %s", async (payload, fault) => {
  const headers = { "content-type": "application/json" };
  const answer = await server.send({ method: "POST", url: ACTIONS, payload, headers });

  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(faults(answer)).toEqual([fault]);
  expect(server.seen()).toEqual([]);
});

test("a malformed idempotency key of an action on a comment is refused", async () => {
  const answer = await act({ type: "hide" }, { "idempotency-key": "a b" });

  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(server.seen()).toEqual([]);
});

test("requests that read comments from the platform wait longer for the delivery service than that service waits for the platform", async () => {
  const deadlines: number[] = [];
  const note = (context: { timeoutMs(): number | undefined }) => {
    deadlines.push(context.timeoutMs() ?? Infinity);
    return {};
  };
  await using other = await createRecordingServer(() => ({
    requestTimeoutMs: 15_000,
    comments: {
      listComments: (_, context) => note(context),
      requestCommentAction: (_, context) => note(context),
    },
    automations: {
      previewBackfill: (_, context) => note(context),
      createBackfill: (_, context) => note(context),
      updateBackfill: (_, context) => note(context),
    },
  }));
  const jobs = "/api/v1/automations/partner-dm-backfills";
  const body = { ruleId: ACTION_ID, mediaId: "180_1" };
  await other.send({ url: LIST });
  await other.send({ method: "POST", url: ACTIONS, payload: { type: "hide" } });
  await other.send({ url: `${jobs}/preview?${new URLSearchParams(body).toString()}` });
  await other.send({ method: "POST", url: jobs, payload: body });
  const change = { method: "PATCH", url: `${jobs}/${ACTION_ID}` } as const;
  await other.send({ ...change, payload: { action: "prepare_next_page" } });

  expect(deadlines).toHaveLength(5);
  for (const deadline of deadlines) expect(deadline).toBeGreaterThan(11_000);
});

test("the result of a failed action on a comment says why in the language of the client", async () => {
  const failed = { ...ACTION, status: "failed", finishedAt: AT };
  await using other = await createRecordingServer((answer) => ({
    comments: {
      getCommentAction: (request) =>
        answer(request, {
          action: {
            ...failed,
            error: { code: "outcome_unknown", message: "", retryable: false },
          },
        }),
    },
  }));
  const headers = { "accept-language": "ko" };
  const answer = await other.send({ url: RESULT, headers });

  expect(answer.statusCode).toBe(200);
  expect(answer.json()).toEqual({
    ...RECORD,
    status: "failed",
    finishedAt: INSTANT,
    error: {
      code: "outcome_unknown",
      message: "플랫폼에서 처리되었는지 알 수 없습니다.",
      retryable: false,
      action: "플랫폼에서 댓글을 확인하고, 처리되지 않은 경우에만 다시 요청해 주세요.",
    },
  });
  expect(other.seen()).toMatchObject([{ workspaceId: WORKSPACE_ID, actionId: ACTION_ID }]);
});

const MISSING = { code: "permission_missing", accountId: ACCOUNT_ID, platform: "instagram" };

test.each([
  [notFound(), 404, "not_found"],
  [conflict("account_reconnect_required", [MISSING]), 409, "account_reconnect_required"],
  [
    unprocessable("validation_failed", [{ code: "platform_unsupported" }]),
    422,
    "validation_failed",
  ],
  [unprocessable("idempotency_key_reused"), 422, "idempotency_key_reused"],
  [conflict("idempotency_conflict", [], { retryAfterMs: 1000 }), 409, "idempotency_conflict"],
  [new ServiceError("invalid", "invalid_cursor"), 400, "invalid_cursor"],
  [unavailable(undefined, 7_000), 503, "unavailable"],
  [new ServiceError("timeout", "upstream_timeout"), 504, "upstream_timeout"],
])("the refusal %s of the delivery service is answered with %i %s", async (error, status, code) => {
  const payload = { type: "hide" };
  for (const options of [
    { url: LIST },
    { method: "POST", url: ACTIONS, payload } as const,
    { url: RESULT },
  ])
    expect(summary(await server.send(options, { error }))).toEqual([status, code]);
});

test("when the delivery service cannot read comments for now, the error says how many seconds the client should wait", async () => {
  const answer = await server.send({ url: LIST }, { error: unavailable(undefined, 7_000) });

  expect(answer.headers["retry-after"]).toBe("7");
});

test("the error for an account that lacks the permission for comments names the permission and says what to do, in English and Korean", async () => {
  const error = conflict("account_reconnect_required", [MISSING]);
  const detailIn = async (language: string) => {
    const headers = { "accept-language": language };
    const answer = await server.send({ url: LIST, headers }, { error });
    return answer.json<ErrorBody>().error.details;
  };

  expect(await detailIn("en")).toEqual([
    {
      ...MISSING,
      message:
        "The account's connection lacks the permission for this. Connect the account again and grant everything asked for.",
    },
  ]);
  expect(await detailIn("ko")).toEqual([
    { ...MISSING, message: expect.stringMatching(/권한/) as string },
  ]);
});

test.each([
  ["GET", LIST, "comments:read"],
  ["POST", ACTIONS, "comments:write"],
  ["GET", RESULT, "comments:read"],
] as const)("the request %s %s needs the scope %s", async (method, url, scope) => {
  const answer = await server.send({ method, url }, { scopes: withoutScope(scope) });

  expect(summary(answer)).toEqual([403, "insufficient_scope"]);
  expect(answer.json<ErrorBody>().error.details?.[0]?.code).toBe(scope);
});

test.each([
  ["POST", LIST, "GET, HEAD"],
  ["PUT", ACTIONS, "POST"],
  ["DELETE", RESULT, "GET, HEAD"],
  ["DELETE", `${ACCOUNT_PATH}/media/a%2Fb/comments`, "GET, HEAD"],
] as const)(
  "the gateway answers %s %s with 405 and the allowed methods %s",
  async (method, url, allow) => {
    const answer = await server.send({ method, url });

    expect(summary(answer)).toEqual([405, "method_not_allowed"]);
    expect(answer.headers.allow).toBe(allow);
  },
);

test.each(["nonsense", "0", ACCOUNT_ID.toUpperCase(), "%00"])(
  "a request with the id %s of an account or of an action on a comment is answered with 404",
  async (id) => {
    const payload = { type: "hide" };
    const url = `/api/v1/accounts/${id}/media/a/comments`;
    for (const options of [
      { url },
      { method: "POST", url: `${url}/b/actions`, payload } as const,
      { url: `/api/v1/comment-actions/${id}` },
    ]) {
      expect(summary(await server.send(options))).toEqual([404, "not_found"]);
      expect(server.seen()).toEqual([]);
    }
  },
);

test("an action on a comment with a malformed body and an unknown account is refused because of the body", async () => {
  const url = "/api/v1/accounts/nonsense/media/a/comments/b/actions";
  const answer = await server.send({ method: "POST", url, payload: { type: "reply" } });

  expect(summary(answer)).toEqual([400, "invalid_request"]);
});
