import { connect } from "node:net";
import { createProbeUrl } from "@postrider/rest/media/links";
import { conflict, notFound } from "@postrider/shared/errors";
import { signToken } from "@postrider/shared/secrets/signed-token";
import { findContext } from "@postrider/shared/telemetry/request-context";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import {
  admitted,
  createTestServer,
  identities,
  MEDIA_ID,
  MEDIA_KEY,
  WORKSPACE_ID,
} from "./fixture.ts";
import { refuse, startMediaStandIn } from "./media-stand-in.ts";

const MEBIBYTE = 1024 * 1024;
const BYTES = Buffer.from("0123456789");
const ETAG = `"${"a".repeat(64)}"`;

const MEDIA = {
  id: MEDIA_ID,
  workspaceId: WORKSPACE_ID,
  status: "ready",
  contentType: "image/png",
  bytes: 10n,
  sha256: "a".repeat(64),
  fileName: "고양이.png",
  deliveryBytes: 8n,
  deliverySha256: "b".repeat(64),
  deliveryContentType: "image/jpeg",
};

let known: object[] = [];
let admissions = 0;

const media = await startMediaStandIn();
let owner: string | undefined;
const batchGetMedia = () => {
  owner = findContext()?.workspaceId;
  return { media: known };
};
const admit = () => {
  admissions++;
  return admitted();
};
const app = await createTestServer({ mediaUrl: media.url, media: { batchGetMedia } }, admit);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(async () => {
  await app.close();
  await media[Symbol.asyncDispose]();
});

const inMs = (ms: number) => new Date(Date.now() + ms);
const CLAIMS = { workspace: WORKSPACE_ID, media: MEDIA_ID, rendition: "original" };
const tokenFor = (claims = CLAIMS, expiresAt = inMs(60_000), key = MEDIA_KEY, purpose = "media") =>
  signToken(key, purpose, claims, expiresAt);

const get = (token = tokenFor(), init: RequestInit = {}) => fetch(`${url}/media/${token}`, init);

/** Makes the simulated media service serve the bytes of a file, and ranges of them. */
function serve(found: object[] = [MEDIA]): void {
  known = found;
  media.handle((request, response) => {
    const [, first = "", last = ""] = /^bytes=(\d*)-(\d*)$/.exec(request.headers.range ?? "") ?? [];
    if (request.headers.range === undefined) {
      response.writeHead(200, { "content-length": BYTES.length }).end(BYTES);
      return;
    }
    const start = first === "" ? BYTES.length - Number(last) : Number(first);
    const part = BYTES.subarray(start, first === "" || last === "" ? undefined : Number(last) + 1);
    const range = part.length === 0 ? "*" : `${start}-${start + part.length - 1}`;
    response.writeHead(part.length === 0 ? 416 : 206, {
      "content-length": part.length,
      "content-range": `bytes ${range}/${BYTES.length}`,
    });
    response.end(part);
  });
}

test("the calls of a download count to the workspace of its file", async () => {
  serve();
  await (await get()).text();
  expect(owner).toBe(WORKSPACE_ID);
});

async function summary(answer: Response) {
  const body = (await answer.json()) as { error: { code: string } };
  return [answer.status, body.error.code];
}

test("a media URL returns the file with a safe name and type, and needs no API key or rate limit", async () => {
  serve();
  const answer = await get(tokenFor(), { headers: { "x-request-id": "mine" } });
  expect([answer.status, await answer.text()]).toEqual([200, "0123456789"]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "image/png",
    "content-length": "10",
    "content-disposition":
      "inline; filename=\"___.png\"; filename*=UTF-8''%EA%B3%A0%EC%96%91%EC%9D%B4.png",
    "accept-ranges": "bytes",
    "cache-control": "private, no-cache",
    "x-content-type-options": "nosniff",
    "x-request-id": "mine",
    etag: ETAG,
  });
  for (const name of ["set-cookie", "location", "ratelimit"])
    expect(answer.headers.get(name)).toBeNull();
  expect(admissions).toBe(0);
  expect(media.seen[0]).toMatchObject({
    url: `/objects/${WORKSPACE_ID}/${MEDIA_ID}?rendition=original`,
  });
  const { headers = {} } = media.seen[0] ?? {};
  const access = identities.accessOf("media");
  expect(await access.authenticate((name) => String(headers[name]))).toBe("gateway");
  expect(headers).toMatchObject({
    "x-request-id": "mine",
  });
});

test("a media URL that is made for platforms returns the converted copy of the file, not the uploaded file", async () => {
  serve();
  const answer = await get(tokenFor({ ...CLAIMS, rendition: "delivery" }));
  expect(media.seen[0]?.url).toContain("rendition=delivery");
  expect([answer.headers.get("content-type"), answer.headers.get("etag")]).toEqual([
    "image/jpeg",
    `"${"b".repeat(64)}"`,
  ]);
});

test("HEAD of a media URL returns the same headers as GET, without a body", async () => {
  serve();
  const answer = await get(tokenFor(), { method: "HEAD", headers: { range: "bytes=0-1" } });
  expect([answer.status, answer.headers.get("content-length"), await answer.text()]).toEqual([
    200,
    "10",
    "",
  ]);
  expect(answer.headers.get("etag")).toBe(ETAG);
  expect(media.seen).toEqual([]);
});

test.each([
  ["bytes=2-4", "234", "bytes 2-4/10"],
  ["bytes=7-", "789", "bytes 7-9/10"],
  ["bytes=-2", "89", "bytes 8-9/10"],
  ["bytes=8-99", "89", "bytes 8-9/10"],
])(
  "a download with the Range header %s returns exactly the requested bytes",
  async (range, text, contentRange) => {
    serve();
    const answer = await get(tokenFor(), { headers: { range } });
    expect([answer.status, await answer.text(), answer.headers.get("content-range")]).toEqual([
      206,
      text,
      contentRange,
    ]);
    expect(answer.headers.get("content-length")).toBe(String(text.length));
  },
);

test("a download with a range outside of the file is answered with 416 and the file's length", async () => {
  serve();
  const answer = await get(tokenFor(), { headers: { range: "bytes=10-" } });
  expect([answer.status, await answer.text(), answer.headers.get("content-range")]).toEqual([
    416,
    "",
    "bytes */10",
  ]);
});

test.each(["bytes=0-1,4-5", "bytes=5-2", "lines=1-2", "bytes=x"])(
  "the Range header %s of a download is answered with the whole file",
  async (range) => {
    serve();
    const answer = await get(tokenFor(), { headers: { range } });
    expect([answer.status, await answer.text()]).toEqual([200, "0123456789"]);
    expect(answer.headers.get("content-range")).toBeNull();
  },
);

test.each([
  [ETAG, 206],
  ['"other"', 200],
  [`W/${ETAG}`, 200],
  ["Wed, 21 Oct 2026 07:28:00 GMT", 200],
])(
  "a download of a range with If-Range %s is answered with the status %i",
  async (condition, status) => {
    serve();
    const headers = { range: "bytes=2-4", "if-range": condition };
    expect((await get(tokenFor(), { headers })).status).toBe(status);
  },
);

test("a download is answered with 304 and no body when the client already has the file", async () => {
  serve();
  for (const method of ["GET", "HEAD"]) {
    const headers = { "if-none-match": `"x", W/${ETAG}` };
    const answer = await get(tokenFor(), { method, headers });
    expect([answer.status, answer.headers.get("etag")]).toEqual([304, ETAG]);
    expect(answer.headers.get("cache-control")).toBe("private, no-cache");
  }
  expect(media.seen).toEqual([]);
  expect((await get(tokenFor(), { headers: { "if-none-match": '"other"' } })).status).toBe(200);
});

const token = tokenFor();
const [body = "", signature = ""] = token.split(".");
const forged = Buffer.from(JSON.stringify({ claims: CLAIMS, expires: 4e9 })).toString("base64url");

test.each([
  ["an expired URL", tokenFor(CLAIMS, inMs(-1_000))],
  ["a URL that another key signed", tokenFor(CLAIMS, inMs(60_000), "o".repeat(32))],
  ["a token for another purpose", tokenFor(CLAIMS, inMs(60_000), MEDIA_KEY, "upload")],
  ["changed claims and the old signature", `${forged}.${signature}`],
  ["a token without signature", body],
  ["a token with an additional part", `${token}.x`],
  ["another spelling of the signature", `${token}=`],
  ["nonsense", "nonsense"],
  ["an invalid escape", "%zz"],
  ["a very long path", "a".repeat(10_000)],
])("a download with %s is answered with not_found", async (_, given) => {
  serve();
  for (const method of ["GET", "HEAD"]) {
    const answer = await get(given, { method });
    expect(answer.status).toBe(404);
    expect(answer.headers.get("x-request-id")).not.toBeNull();
  }
  expect(await summary(await get(given))).toEqual([404, "not_found"]);
  expect(media.seen).toEqual([]);
});

test.each(["pending", "rejected", "deleting"])(
  "media with the status %s cannot be downloaded",
  async (status) => {
    serve([{ ...MEDIA, status }]);
    expect(await summary(await get())).toEqual([404, "not_found"]);
  },
);

test("deleted media cannot be downloaded, even if it is deleted during the request", async () => {
  serve([]);
  expect(await summary(await get())).toEqual([404, "not_found"]);
  known = [MEDIA];
  media.handle((_request, response) => refuse(response, notFound()));
  expect(await summary(await get())).toEqual([404, "not_found"]);
});

test("the details of an unexpected answer of the media service to a download are hidden from the client", async () => {
  known = [MEDIA];
  media.handle((_request, response) => response.writeHead(200).destroy());
  expect(await summary(await get())).toEqual([503, "unavailable"]);
  media.handle((_request, response) => refuse(response, conflict("secret")));
  expect((await get()).status).toBe(500);
});

test("a download is answered by another process of the media service when the first one ends before it answers", async () => {
  known = [MEDIA];
  media.handle((request, response) => {
    if (media.seen.length === 1) request.socket.destroy();
    else response.writeHead(200, { "content-length": BYTES.length }).end(BYTES);
  });
  const answer = await get();
  expect([answer.status, await answer.text()]).toEqual([200, String(BYTES)]);
});

test("when the media service disconnects during a download, the client sees that the file is incomplete", async () => {
  known = [{ ...MEDIA, bytes: 1000n }];
  media.handle((request, response) => {
    response.writeHead(200, { "content-length": 1000 });
    response.write("abc", () => request.socket.destroy());
  });
  const answer = await get();
  expect(answer.status).toBe(200);
  await expect(answer.text()).rejects.toThrow(/terminated/);
});

test("a download is read from the media service only as fast as the client reads it, and until the client disconnects", async () => {
  known = [{ ...MEDIA, bytes: BigInt(64 * MEBIBYTE) }];
  let sent = 0;
  const gone = Promise.withResolvers<void>();
  media.handle((_request, response) => {
    response.writeHead(200, { "content-length": 64 * MEBIBYTE });
    response.once("close", gone.resolve);
    const piece = Buffer.alloc(MEBIBYTE);
    const more = (): void => {
      if (response.destroyed) return;
      sent += MEBIBYTE;
      response.write(piece, more);
    };
    more();
  });
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  socket.pause();
  socket.write(`GET /media/${tokenFor()} HTTP/1.1\r\nHost: a\r\n\r\n`);
  let last = -1;
  await eventually(() => {
    const isSame = sent > 0 && sent === last;
    last = sent;
    return isSame;
  });
  expect(sent).toBeLessThan(32 * MEBIBYTE);
  socket.destroy();
  await gone.promise;
});

/** Makes the simulated media service send only the first bytes of each file. */
function serveFirstBytes(): void {
  known = [{ ...MEDIA, bytes: 1000n }];
  media.handle((request, response) => {
    response.writeHead(request.headers.range === undefined ? 200 : 416, { "content-length": 1000 });
    if (request.headers.range === undefined) response.write("abc");
    else response.end(Buffer.alloc(1000));
  });
}

test("a download beyond its workspace's share of concurrent downloads is refused immediately, and succeeds once another download has ended", async () => {
  const batchGetMedia = ({ ids }: { readonly ids: readonly string[] }) => ({
    media: ids.flatMap((id) => known.map((one) => ({ ...one, id }))),
  });
  const peers = { mediaUrl: media.url, media: { batchGetMedia } };
  const small = await createTestServer({ ...peers, maxInFlight: 4 });
  const base = `${await small.listen({ host: "127.0.0.1", port: 0 })}/media/`;
  serveFirstBytes();
  let files = 0;
  const start = (workspace: string, init: RequestInit = {}) =>
    fetch(base + tokenFor({ ...CLAIMS, workspace, media: `file ${(files += 1)}` }), init);
  for (let times = 0; times < 5; times++)
    expect((await start("w", { headers: { range: "bytes=5000-" } })).status).toBe(416);
  const stop = new AbortController();
  await start("w", { signal: stop.signal });
  const second = await start("w");
  const refused = await start("w");
  expect([...(await summary(refused)), refused.headers.get("retry-after")]).toEqual([
    503,
    "unavailable",
    "1",
  ]);
  const other = await start("another workspace");
  expect(other.status).toBe(200);
  stop.abort();
  const third = await eventually(async () => {
    const answer = await start("w");
    return answer.status === 200 && answer;
  });
  for (const answer of [second, other, third]) await answer.body?.cancel();
  await small.close();
});

test("the downloads of one media URL cannot use up all concurrent downloads of its workspace, so other files can still be downloaded", async () => {
  const batchGetMedia = ({ ids }: { readonly ids: readonly string[] }) => ({
    media: ids.flatMap((id) => known.map((one) => ({ ...one, id }))),
  });
  const peers = { mediaUrl: media.url, media: { batchGetMedia } };
  const small = await createTestServer({ ...peers, maxInFlight: 8 });
  const base = `${await small.listen({ host: "127.0.0.1", port: 0 })}/media/`;
  serveFirstBytes();
  const started: Response[] = [];
  for (let answer = await fetch(base + tokenFor()); ; answer = await fetch(base + tokenFor())) {
    if (answer.status === 503) break;
    started.push(answer);
  }
  expect(started).toHaveLength(2);
  const other = await fetch(base + tokenFor({ ...CLAIMS, media: "another file" }));
  expect(other.status).toBe(200);
  for (const answer of [...started, other]) await answer.body?.cancel();
  await small.close();
});

test("a client that reads its download below the minimum rate is disconnected", async () => {
  known = [{ ...MEDIA, bytes: BigInt(64 * MEBIBYTE) }];
  const ended = Promise.withResolvers<boolean>();
  media.handle((_request, response) => {
    response.writeHead(200, { "content-length": 64 * MEBIBYTE });
    response.once("close", () => ended.resolve(response.writableFinished));
    response.end(Buffer.alloc(64 * MEBIBYTE));
  });
  const small = await createTestServer({
    mediaUrl: media.url,
    media: { batchGetMedia: () => ({ media: known }) },
    patience: { transferRate: { bytesPerSecond: 1_000, stallMs: 300 } },
  });
  const base = await small.listen({ host: "127.0.0.1", port: 0 });
  const socket = connect(Number(new URL(base).port), "127.0.0.1");
  socket.on("error", () => undefined).pause();
  socket.write(`GET /media/${tokenFor()} HTTP/1.1\r\nHost: a\r\n\r\n`);
  expect(await ended.promise).toBe(false);
  socket.destroy();
  await small.close();
});

test("a request to a media URL with another method than GET or HEAD is refused", async () => {
  const answer = await get(tokenFor(), { method: "DELETE" });
  expect(await summary(answer)).toEqual([405, "method_not_allowed"]);
  expect(answer.headers.get("allow")).toBe("GET, HEAD");
});

test("the URL of a rendition (a converted copy of a media file) returns its bytes with the type, length and version that the media service names", async () => {
  const rendition = "0198c1d0-0000-7000-8000-000000000001";
  const asked: (string | undefined)[] = [];
  known = [{ ...MEDIA, fileName: "IMG_1.HEIC", contentType: "image/heic" }];
  media.handle((request, response) => {
    asked.push(
      `${request.method} ${new URL(request.url ?? "", "http://x").searchParams.get("rendition")}`,
    );
    const described = { "content-type": "image/jpeg", etag: ETAG };
    const range = request.headers.range === undefined ? {} : { "content-range": "bytes 2-4/10" };
    const part = request.headers.range === undefined ? BYTES : BYTES.subarray(2, 5);
    const status = request.headers.range === undefined ? 200 : 206;
    response.writeHead(status, { ...described, ...range, "content-length": part.length });
    response.end(request.method === "HEAD" ? undefined : part);
  });
  const token = tokenFor({ ...CLAIMS, rendition });

  const answer = await get(token);
  expect([answer.status, await answer.text()]).toEqual([200, "0123456789"]);
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    "content-type": "image/jpeg",
    "content-length": "10",
    etag: ETAG,
    "content-disposition": 'inline; filename="IMG_1.jpg"',
  });
  const part = await get(token, { headers: { range: "bytes=2-4", "if-range": ETAG } });
  expect([part.status, await part.text()]).toEqual([206, "234"]);
  const head = await get(token, { method: "HEAD" });
  expect([head.status, head.headers.get("content-length")]).toEqual([200, "10"]);
  const unchanged = await get(token, { headers: { "if-none-match": ETAG } });
  expect(unchanged.status).toBe(304);
  expect(asked).toEqual([
    `HEAD ${rendition}`,
    `GET ${rendition}`,
    `HEAD ${rendition}`,
    `GET ${rendition}`,
    `HEAD ${rendition}`,
    `HEAD ${rendition}`,
  ]);
});

test("the URL of a rendition answers not_found if the rendition does not exist or its media are not ready", async () => {
  const token = tokenFor({ ...CLAIMS, rendition: "0198c1d0-0000-7000-8000-000000000001" });
  known = [MEDIA];
  media.handle((_request, response) => response.writeHead(404).end());
  expect(await summary(await get(token))).toEqual([404, "not_found"]);
  known = [{ ...MEDIA, status: "deleting" }];
  expect(await summary(await get(token))).toEqual([404, "not_found"]);
});

test("a test URL that is signed with the gateway's media key is answered with 204, without a call of the media service", async () => {
  serve([]);
  const probe = async (key: string) => {
    const answer = await fetch(createProbeUrl(url, key), { redirect: "manual" });
    return [answer.status, await answer.text()] as const;
  };
  expect(await probe(MEDIA_KEY)).toEqual([204, ""]);
  const [status] = await probe("another media key, as of another installation of Postrider");
  expect(status).toBe(404);
});
