import { gzipSync } from "node:zlib";
import { conflict, unprocessable, wrongStatus } from "@postrider/shared/errors";
import type { InjectOptions } from "fastify";
import { afterAll, expect, test } from "vitest";
import type { ErrorBody } from "./error-body.ts";
import { ACCOUNT_ID, createSharedServer, POST_ID, type SharedServer } from "./fixture.ts";

const shared = await createSharedServer();
afterAll(() => shared.app.close());

type Posts = NonNullable<Parameters<SharedServer["use"]>[0]["posts"]>;

async function errorOf(request: InjectOptions, posts: Posts = {}) {
  shared.use({ posts });
  const answer = await shared.app.inject(request);
  return { status: answer.statusCode, ...answer.json<ErrorBody>().error };
}

const body = { content: "Hello", accountIds: [ACCOUNT_ID] };
const create = (payload: object, headers: Record<string, string> = {}): InjectOptions => ({
  method: "POST",
  url: "/api/v1/posts",
  headers: { "content-type": "application/json", ...headers },
  payload: Buffer.isBuffer(payload) ? payload : JSON.stringify(payload),
});

test.each([
  [
    { content: "Hello" },
    "accountIds: This field is missing. Add it with a list, each a UUID in lower case, such as 01936a5e-7d2b-7000-8000-000000000001: the id of an account that GET /accounts lists.",
  ],
  [
    { ...body, scheduledAt: "tomorrow" },
    'scheduledAt: This value does not have the expected form: "tomorrow". Send a time with an offset, such as 2026-12-24T18:00:00Z.',
  ],
  [
    { ...body, scheduledAt: "2026-12-24T18:00:00" },
    'scheduledAt: This value does not have the expected form: "2026-12-24T18:00:00". Send a time with an offset, such as 2026-12-24T18:00:00Z.',
  ],
  [
    { ...body, scheduledAt: "2026-12-24 18:00+01:00" },
    'scheduledAt: This value does not have the expected form: "2026-12-24 18:00+01:00". Send this time as 2026-12-24T18:00:00+01:00.',
  ],
  [
    { ...body, scheduledAt: 1_798_135_200 },
    "scheduledAt: This value has the wrong type: it is 1798135200. Send this time as 2026-12-24T18:00:00Z.",
  ],
  [
    { ...body, scheduledAt: null },
    "scheduledAt: This value is null. Send a time with an offset, such as 2026-12-24T18:00:00Z, or leave the field out unless it is required.",
  ],
  [
    { ...body, mediaIds: null },
    /^mediaIds: This value is null\. Send a list, .*, or leave the field out unless it is required\.$/,
  ],
  [
    { ...body, isDraft: "yes" },
    'isDraft: This value has the wrong type: it is "yes". Send true or false.',
  ],
  [
    { ...body, options: { x: { privacy: "secret" } } },
    'options.x.privacy: This value is not one of those that are allowed: "secret". Send one of public, unlisted, private.',
  ],
  [{ ...body, mediaIds: ["A"] }, /^mediaIds\[0\]: .* Send a UUID in lower case, such as /],
  [
    { ...body, text: "a" },
    /^text: There is no field with this name here\. Remove it; the fields are content, /,
  ],
])(
  "the message about the body %j names the faulty field, the problem and what to send",
  async (sent, message) => {
    const error = await errorOf(create(sent));
    expect([error.status, error.code]).toEqual([400, "invalid_request"]);
    expect(error.message).toMatch(message);
  },
);

test.each([
  [{ text: "Hello", accountIds: [ACCOUNT_ID] }, "/text", "content (a string: main text)"],
  [{ ...body, status: "draft" }, "/status", /^isDraft: true \(keep it as a draft, /],
  [{ content: "Hello", account_ids: [ACCOUNT_ID] }, "/account_ids", /^accountIds \(a list, /],
  [{ post: { ...body } }, "/post", /^content, accountIds$/],
])(
  "the error for a body with a field of another API, %j, names the field to send instead",
  async (sent, path, expected) => {
    const error = await errorOf(create(sent));
    const detail = error.details?.find((each) => each.path === path);
    expect(detail).toMatchObject({ code: "additional_property" });
    expect(detail?.["expected"]).toMatch(expected);
  },
);

test.each([
  [
    Buffer.from(`\ufeff${JSON.stringify(body)}`),
    "The body begins with a byte order mark, which JSON does not allow. Send UTF-8 without it; editors call this “UTF-8”, not “UTF-8 with BOM”.",
  ],
  [
    Buffer.from(JSON.stringify(body), "utf16le"),
    "The body is not valid UTF-8. Encode the text as UTF-8.",
  ],
])("the message about the body %# that is not plain UTF-8 says so", async (payload, message) => {
  const { status, ...error } = await errorOf(create(payload));
  expect([status, error.message]).toEqual([400, message]);
});

test("a missing field that was sent under another name is not reported twice", async () => {
  const { details } = await errorOf(create({ text: "Hello", accountIds: [ACCOUNT_ID] }));
  expect(details?.map(({ code }) => code)).toEqual(["additional_property"]);
});

test("the error message of a request with two mistakes names both mistakes", async () => {
  const { message } = await errorOf(create({ content: 5, accountIds: [] }));
  expect(message).toMatch(/^content: .* accountIds: There are too few items: 0, /);
});

test("the error for GET of one account, which is not an operation, proposes the list and not DELETE", async () => {
  const error = await errorOf({ method: "GET", url: `/api/v1/accounts/${ACCOUNT_ID}` });
  expect(error.message).toBe("This path does not support GET. Use GET /api/v1/accounts.");
});

test("the error message of a request with several mistakes names the first one and says how many others the error details name", async () => {
  const error = await errorOf(create({ content: 5, accountIds: "a", x: 1 }));
  expect(error.details).toHaveLength(3);
  expect(error.message).toMatch(/ The details name 2 more\.$/);
});

test("the message about a post that the posts service refuses because of a platform's limit names the platform", async () => {
  const createPost = () => {
    throw unprocessable("validation_failed", [
      { code: "content_too_long", path: "/content", platform: "x", limit: 280, actual: 300 },
    ]);
  };
  const error = await errorOf(create(body), { createPost });
  expect(error.message).toBe(
    "x, content: The text is too long: it counts 300, at most 280 characters are allowed. Shorten it.",
  );
});

test("a compressed body is refused with 415 and what to do", async () => {
  const packed = gzipSync(JSON.stringify(body));
  const error = await errorOf(create(packed, { "content-encoding": "gzip" }));
  expect([error.status, error.code]).toEqual([415, "unsupported_media_type"]);
  expect(error.details).toEqual([
    expect.objectContaining({
      code: "encoding_unsupported",
      path: "/Content-Encoding",
      in: "header",
    }),
  ]);
  expect(error.message).toMatch(
    /uncompressed, as plain JSON, and leave the header Content-Encoding out/,
  );
});

test("a body over 1 MiB is refused with the limit", async () => {
  const error = await errorOf(create({ ...body, content: "x".repeat(1024 * 1024) }));
  expect([error.status, error.code]).toEqual([413, "payload_too_large"]);
  expect(error.details).toMatchObject([{ code: "payload_too_large", limit: 1_048_576 }]);
});

test("the error for an If-Match without the quotes of an ETag says that they are missing", async () => {
  const updatePost = () => {
    throw conflict("precondition_failed");
  };
  const request: InjectOptions = {
    method: "PATCH",
    url: `/api/v1/posts/${POST_ID}`,
    headers: { "if-match": "3", "content-type": "application/json" },
    payload: { content: "a" },
  };
  const error = await errorOf(request, { updatePost });
  expect([error.status, error.code]).toEqual([412, "precondition_failed"]);
  expect(error.details).toMatchObject([
    { code: "invalid_etag", path: "/If-Match", in: "header", found: "3", expected: '"3"' },
  ]);
  const outdated = { ...request, headers: { ...request.headers, "if-match": '"2"' } };
  expect(await errorOf(outdated, { updatePost })).not.toHaveProperty("details");
});

test("the error for an operation that the status of a resource does not allow names this status and the statuses that allow the operation", async () => {
  const publishPost = () => {
    throw wrongStatus("published", ["draft", "scheduled"]);
  };
  const request: InjectOptions = { method: "POST", url: `/api/v1/posts/${POST_ID}/publish` };
  const error = await errorOf(request, { publishPost });
  expect([error.status, error.code]).toEqual([409, "invalid_transition"]);
  expect(error.message).toBe(
    "The post is already published. To publish it again, create a new post with POST /posts. Send this only while the status is one of draft, scheduled.",
  );
  expect(error.details).toMatchObject([
    { code: "wrong_status", status: "published", allowed: ["draft", "scheduled"] },
  ]);
});

test.each([
  [{ "idempotency-key": "two words" }, "/Idempotency-Key"],
  [{ "idempotency-key": "x".repeat(256) }, "/Idempotency-Key"],
])(
  "the path of an error detail about the header %j has the same form as for a query parameter",
  async (headers, path) => {
    const error = await errorOf(create(body, headers));
    expect(
      error.details?.map((detail) => ({ ...detail, path: detail.path?.toLowerCase() })),
    ).toMatchObject([{ code: "invalid_header", path: path.toLowerCase(), in: "header" }]);
  },
);

test("an error message in Korean names the faulty field and the values too", async () => {
  const error = await errorOf(create({ ...body, isDraft: "yes" }, { "accept-language": "ko" }));
  expect(error.message).toMatch(/^isDraft: .*[가-힣].*true/);
});

test("GET /posts with an unknown platform is refused with the platforms that exist", async () => {
  const { details } = await errorOf({ url: "/api/v1/posts?platform=myspace" });
  const allowed = ["instagram", "x", "facebook", "tiktok", "youtube", "telegram", "bluesky"];
  expect(details).toMatchObject([{ path: "/platform", in: "query", allowed }]);
});
