import { ServiceError, unprocessable, type ErrorKind } from "@postrider/shared/errors";
import { findContext } from "@postrider/shared/telemetry/request-context";
import type { InjectOptions } from "fastify";
import { afterAll, expect, test } from "vitest";
import type { AdmissionResult } from "#src/admission/admission-result.ts";
import { summary, type ErrorBody } from "./error-body.ts";
import {
  admitted,
  createTestServer,
  MEDIA_ID,
  POST,
  POST_ID,
  PUBLIC_URL,
  WORKSPACE_ID,
  type Peers,
} from "./fixture.ts";

type MediaPeer = NonNullable<Peers["media"]>;

/** The RPC handlers of the in-memory media service. Each test sets the handlers that it needs. */
let peer: MediaPeer = {};
let admission: AdmissionResult = admitted();
let calls: unknown[] = [];

const GRANT = {
  id: MEDIA_ID,
  uploadPath: MEDIA_ID,
  uploadToken: "t0k/en",
  expiresAt: { seconds: 1_795_000_900n, nanos: 0 },
};
const MEDIA = {
  id: MEDIA_ID,
  workspaceId: WORKSPACE_ID,
  status: "ready",
  kind: "video",
  contentType: "video/mp4",
  bytes: 5_000_000_000n,
  width: 1920,
  height: 1080,
  durationMs: 12_345n,
  sha256: "a".repeat(64),
  fileName: "video.mp4",
  createdAt: { seconds: 1_795_000_000n, nanos: 0 },
};
const RECORD = {
  id: MEDIA_ID,
  status: "ready",
  kind: "video",
  contentType: "video/mp4",
  bytes: 5_000_000_000,
  width: 1920,
  height: 1080,
  durationMs: 12_345,
  sha256: "a".repeat(64),
  fileName: "video.mp4",
  altText: null,
  coverMs: null,
  video: null,
  url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:8080\/media\/[\w-]+\.[\w-]+$/) as string,
  createdAt: "2026-11-18T11:06:40.000Z",
};

// All tests of this file share one server, which keeps no state between requests.
const note = (request: unknown): true => calls.push(request) > 0 || true;
const media: MediaPeer = {
  createUpload: (...call) => (note(call[0]) && peer.createUpload?.(...call)) || {},
  completeUpload: (...call) => (note(call[0]) && peer.completeUpload?.(...call)) || {},
  importMedia: (...call) => (note(call[0]) && peer.importMedia?.(...call)) || {},
  updateMedia: (...call) => (note(call[0]) && peer.updateMedia?.(...call)) || {},
  batchGetMedia: (...call) => peer.batchGetMedia?.(...call) ?? {},
  deleteMedia: (...call) => (note(call[0]) && peer.deleteMedia?.(...call)) || {},
};
const posts = { batchGetPosts: () => ({ posts: [{ ...POST, media: [MEDIA] }] }) };
const app = await createTestServer({ media, posts }, () => admission);
afterAll(() => app.close());

async function ask(request: InjectOptions, media: MediaPeer = {}, result = admitted()) {
  peer = media;
  admission = result;
  calls = [];
  return await app.inject(request);
}

type Answer = Awaited<ReturnType<typeof ask>>;

const errorOf = (answer: Answer) => answer.json<ErrorBody>().error;
const presign = (payload: object = {}, headers = {}): InjectOptions => ({
  method: "POST",
  url: "/api/v1/media/presign",
  headers,
  payload: { fileName: "video.mp4", contentType: "video/mp4", bytes: 5, ...payload },
});
const fromUrl = (payload: object, headers = {}): InjectOptions => ({
  method: "POST",
  url: "/api/v1/media/from-url",
  headers,
  payload,
});
const complete = (id = MEDIA_ID): InjectOptions => ({
  method: "POST",
  url: `/api/v1/media/${id}/complete`,
});
const update = (payload: object): InjectOptions => ({
  method: "PATCH",
  url: `/api/v1/media/${MEDIA_ID}`,
  payload,
});
const remove = (id = MEDIA_ID): InjectOptions => ({ method: "DELETE", url: `/api/v1/media/${id}` });

test("POST /media/presign answers with an upload URL of the gateway for a PUT request", async () => {
  const answer = await ask(presign({}, { "idempotency-key": "not even valid" }), {
    createUpload: () => GRANT,
  });
  const { uploadToken } = answer.json<{ uploadToken: string }>();
  expect(uploadToken).toMatch(/^[\w.-]{100,400}$/);
  expect([answer.statusCode, answer.json()]).toEqual([
    201,
    {
      id: MEDIA_ID,
      uploadUrl: `${PUBLIC_URL}/uploads/${MEDIA_ID}?token=${uploadToken}`,
      uploadPath: MEDIA_ID,
      uploadToken,
      expiresAt: "2026-11-18T11:21:40.000Z",
    },
  ]);
  expect(answer.headers["idempotent-replayed"]).toBeUndefined();
  expect(calls).toMatchObject([
    { workspaceId: WORKSPACE_ID, fileName: "video.mp4", contentType: "video/mp4", bytes: 5n },
  ]);
});

test("POST /media/presign answers with an upload URL of the object store if the object store accepts uploads", async () => {
  const uploadUrl = "https://bucket.example/key?X-Amz-Signature=1";
  const answer = await ask(presign(), { createUpload: () => ({ ...GRANT, uploadUrl }) });
  expect(answer.json()).toMatchObject({ uploadUrl, uploadPath: MEDIA_ID });
});

test("POST /media/presign passes an excessive file size to the media service, which refuses it", async () => {
  await ask(presign({ bytes: 1e300 }), { createUpload: () => GRANT });
  expect(calls).toMatchObject([{ bytes: BigInt(Number.MAX_SAFE_INTEGER) }]);
});

test.each([
  [{ bytes: 0 }, "too_small", "/bytes"],
  [{ bytes: 1.5 }, "type", "/bytes"],
  [{ bytes: "5" }, "type", "/bytes"],
  [{ fileName: null }, "type", "/fileName"],
  [{ fileName: "a".repeat(1001) }, "too_long", "/fileName"],
  [{ contentType: undefined }, "required", "/contentType"],
  [{ extra: 1 }, "additional_property", "/extra"],
])("POST /media/presign refuses the fields %j", async (payload, code, path) => {
  const answer = await ask(presign(payload));
  expect(summary(answer)).toEqual([400, "invalid_request"]);
  expect(errorOf(answer).details).toMatchObject([{ code, path }]);
  expect(calls).toEqual([]);
});

test("POST /media/presign explains the limit that a file exceeds in the client's language", async () => {
  const refuse = () => {
    const violation = { code: "media_too_large", path: "/bytes", limit: 20e6, actual: 20e6 + 1 };
    throw unprocessable("media_rejected", [violation]);
  };
  const english = await ask(presign(), { createUpload: refuse });
  expect(summary(english)).toEqual([422, "media_rejected"]);
  expect(errorOf(english).details).toEqual([
    {
      code: "media_too_large",
      message:
        "The file is too large: 20000001 bytes, at most 20000000 are allowed. Use a smaller one.",
      path: "/bytes",
      limit: 20_000_000,
      actual: 20_000_001,
      unit: "bytes",
    },
  ]);
  const korean = await ask(presign({}, { "accept-language": "ko" }), { createUpload: refuse });
  expect(errorOf(korean).message).toMatch(/[가-힣]/);
});

test("POST /media/{id}/complete answers with the media and its URL", async () => {
  const answer = await ask(complete(), { completeUpload: () => ({ media: MEDIA }) });
  expect([answer.statusCode, answer.json()]).toEqual([200, RECORD]);
  expect(calls).toMatchObject([{ workspaceId: WORKSPACE_ID, id: MEDIA_ID }]);
});

test("POST /media/{id}/complete waits as long as the check of a file may take", async () => {
  let remainingMs = 0;
  await ask(complete(), {
    completeUpload: () => {
      remainingMs = (findContext()?.deadlineAt ?? 0) - performance.now();
      return { media: MEDIA };
    },
  });
  expect(remainingMs).toBeGreaterThan(120_000);
});

test("POST /media/{id}/complete answers 404 for a malformed id, without a call to the media service", async () => {
  for (const id of ["nonsense", MEDIA_ID.toUpperCase()])
    expect(summary(await ask(complete(id)))).toEqual([404, "not_found"]);

  expect(calls).toEqual([]);
});

test.each([
  ["https://example.com/Straße 1.png", "https://example.com/Stra%C3%9Fe%201.png"],
  ["https://example.com/a b.png?q=ü", "https://example.com/a%20b.png?q=%C3%BC"],
  ["https://example.com/a [1].png", "https://example.com/a%20%5B1%5D.png"],
  ["https://[2606:4700::1]/a[1].png", "https://[2606:4700::1]/a%5B1%5D.png"],
  ["https://example.com/a.png?tags[]=1", "https://example.com/a.png?tags%5B%5D=1"],
  ["https://example.com/100%.png", "https://example.com/100%25.png"],
  ["https://example.com/a%20b.png#c#d", "https://example.com/a%20b.png#c%23d"],
])(
  "POST /media/from-url says how the URL %s has to be percent-encoded, and takes the encoded one",
  async (url, encoded) => {
    const { message, details } = errorOf(await ask(fromUrl({ url })));

    expect(details?.[0]).toMatchObject({
      code: "format",
      path: "/url",
      found: JSON.stringify(url),
    });
    expect(message).toContain(encoded);
    await ask(fromUrl({ url: encoded }));
    expect(calls).toMatchObject([{ url: encoded }]);
  },
);

test("POST /media/from-url answers with the imported media", async () => {
  const answer = await ask(fromUrl({ url: "https://example.com/a.mp4" }), {
    importMedia: () => ({ media: MEDIA }),
  });
  expect([answer.statusCode, answer.json()]).toEqual([201, RECORD]);
  expect(answer.headers["idempotent-replayed"]).toBeUndefined();
  expect(calls).toEqual([
    expect.objectContaining({ workspaceId: WORKSPACE_ID, url: "https://example.com/a.mp4" }),
  ]);
});

test("POST /media/from-url marks a replayed answer as replayed and signs its URL again", async () => {
  const answer = await ask(fromUrl({ url: "https://example.com/" }, { "idempotency-key": "k" }), {
    importMedia: () => ({ media: MEDIA, replayed: true }),
  });
  expect([answer.statusCode, answer.headers["idempotent-replayed"]]).toEqual([201, "true"]);
  expect(answer.json()).toEqual(RECORD);
  expect(calls).toMatchObject([{ idempotency: { key: "k" } }]);
});

test.each([{}, { url: "" }, { url: "not a url" }, { url: 1 }, { url: "https://a.b/", x: 1 }])(
  "POST /media/from-url refuses the body %j",
  async (payload) => {
    expect(summary(await ask(fromUrl(payload)))).toEqual([400, "invalid_request"]);
    expect(calls).toEqual([]);
  },
);

test("PATCH /media/{id} changes only the fields that were sent and answers with the media", async () => {
  const answer = await ask(update({ altText: "A boat" }), {
    updateMedia: () => ({ media: { ...MEDIA, altText: "A boat", coverMs: 700n } }),
  });
  const changed = { ...RECORD, altText: "A boat", coverMs: 700 };
  expect([answer.statusCode, answer.json()]).toEqual([200, changed]);
  await ask(update({ coverMs: 700 }), { updateMedia: () => ({ media: MEDIA }) });
  const both = [...calls];
  expect(both).toMatchObject([{ workspaceId: WORKSPACE_ID, id: MEDIA_ID, coverMs: 700n }]);
  expect(both).not.toMatchObject([{ altText: expect.anything() }]);
});

test("PATCH /media/{id} removes a description and a cover that are null", async () => {
  await ask(update({ altText: null, coverMs: null }), { updateMedia: () => ({ media: MEDIA }) });
  expect(calls).toMatchObject([{ altText: "", coverMs: -1n }]);
});

test.each([
  {},
  { altText: "a".repeat(1_501) },
  { altText: 1 },
  { coverMs: -1 },
  { coverMs: 1.5 },
  { altText: "A boat", title: "b" },
])("PATCH /media/{id} refuses the body %j", async (payload) => {
  expect(summary(await ask(update(payload)))).toEqual([400, "invalid_request"]);
  expect(calls).toEqual([]);
});

test("GET /posts/{id} shows the media's current description or, while the media service does not answer, the one with which the post was accepted", async () => {
  const get: InjectOptions = { method: "GET", url: `/api/v1/posts/${POST_ID}` };
  const shown = async (media: MediaPeer) =>
    (await ask(get, media)).json<{ media: readonly object[] }>().media;
  const current = { ...MEDIA, altText: "A boat", coverMs: 0n };
  expect(await shown({ batchGetMedia: () => ({ media: [current] }) })).toEqual([
    { ...RECORD, altText: "A boat", coverMs: 0 },
  ]);
  const refuse = () => {
    throw new ServiceError("unavailable", "unavailable");
  };
  expect(await shown({ batchGetMedia: refuse })).toEqual([RECORD]);
});

test("GET /posts/{id} has a new ETag after its media were described, and If-Match accepts it", async () => {
  const get: InjectOptions = { method: "GET", url: `/api/v1/posts/${POST_ID}` };
  const accepted = (await ask(get, { batchGetMedia: () => ({ media: [MEDIA] }) })).headers.etag;
  const described = { batchGetMedia: () => ({ media: [{ ...MEDIA, altText: "A boat" }] }) };
  const changed = (await ask(get, described)).headers.etag ?? "";
  expect([accepted, changed]).toEqual(['"3"', expect.stringMatching(/^"3\.[\w-]{11}"$/) as string]);
  const again = (etag: string) => ({ ...get, headers: { "if-none-match": etag } });
  expect((await ask(again('"3"'), described)).statusCode).toBe(200);
  expect((await ask(again(changed), described)).statusCode).toBe(304);
});

test("DELETE /media/{id} answers 204 for a file whose upload was never completed", async () => {
  const answer = await ask(remove(), { deleteMedia: () => ({ gone: true }) });
  expect([answer.statusCode, answer.body]).toEqual([204, ""]);
});

test("DELETE /media/{id} answers 202 for a file with the status ready", async () => {
  const answer = await ask(remove(), { deleteMedia: () => ({ gone: false }) });
  expect([answer.statusCode, answer.json()]).toEqual([202, { id: MEDIA_ID, status: "deleting" }]);
});

test.each<[number, string, ErrorKind]>([
  [404, "not_found", "not_found"],
  [409, "media_in_use", "conflict"],
  [409, "media_not_uploaded", "conflict"],
  [409, "idempotency_conflict", "conflict"],
  [422, "media_rejected", "unprocessable"],
  [422, "import_failed", "unprocessable"],
  [422, "address_not_allowed", "unprocessable"],
  [503, "unavailable", "unavailable"],
])("the gateway answers an error of the media service with %i %s", async (status, reason, kind) => {
  const refuse = () => {
    throw new ServiceError(kind, reason);
  };
  const peers = {
    completeUpload: refuse,
    importMedia: refuse,
    updateMedia: refuse,
    deleteMedia: refuse,
  };
  const requests = [complete(), fromUrl({ url: "https://a.example/" }), update({ coverMs: 1 })];
  for (const request of [...requests, remove()])
    expect(summary(await ask(request, peers))).toEqual([status, reason]);
});

const operations = [
  presign(),
  complete(),
  fromUrl({ url: "https://a.example/" }),
  update({ coverMs: 1 }),
  remove(),
];
const PATHS = ["presign", `${MEDIA_ID}/complete`, "from-url", MEDIA_ID];

test.each(operations)(
  "the request $method $url requires the scope posts:write",
  async (request) => {
    const reader = admitted({ scopes: new Set(["posts:read"]) });
    expect(summary(await ask(request, {}, reader))).toEqual([403, "insufficient_scope"]);
    expect(calls).toEqual([]);
  },
);

test.each(operations)("the request $method $url requires a verified workspace", async (request) => {
  const unverified = admitted({ verified: false });
  expect(summary(await ask(request, {}, unverified))).toEqual([403, "verification_required"]);
  expect(calls).toEqual([]);
});

test("every operation on media refuses query parameters", async () => {
  for (const [index, request] of operations.entries()) {
    const answer = await ask({ ...request, url: `/api/v1/media/${PATHS[index]}?a=1` });
    expect(summary(answer)).toEqual([400, "invalid_request"]);
  }
});

test("the paths presign, from-url and complete are not read as media ids, and methods that these paths do not support are answered with 405", async () => {
  for (const [method, url, allow] of [
    ["GET", "/api/v1/media/presign", "POST"],
    ["PUT", `/api/v1/media/${MEDIA_ID}/complete`, "POST"],
    ["GET", `/api/v1/media/${MEDIA_ID}`, "DELETE, PATCH"],
  ] as const) {
    const answer = await ask({ method, url });
    expect([...summary(answer), answer.headers.allow]).toEqual([405, "method_not_allowed", allow]);
  }
});

test("a post contains its media with a URL that is signed again at each read", async () => {
  const get = async () => {
    const answer = await ask({ url: `/api/v1/posts/${POST_ID}` });
    return answer.json<{ media: { url: string }[] }>().media;
  };
  expect(await get()).toEqual([RECORD]);
});

test("an answer of the media service without the media is reported as an internal error", async () => {
  expect(summary(await ask(complete(), { completeUpload: () => ({}) }))).toEqual([500, "internal"]);
});
