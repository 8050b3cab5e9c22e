import { randomBytes } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { buffer, json } from "node:stream/consumers";
import {
  conflict,
  invalidRequest,
  notFound,
  ServiceError,
  unprocessable,
} from "@postrider/shared/errors";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { admitted, createTestServer, identities, MEDIA_ID, uploadTokenOf } from "./fixture.ts";
import { refuse, startMediaStandIn } from "./media-stand-in.ts";

const ORIGIN = "https://app.example.com";
const MEBIBYTE = 1024 * 1024;
/**
 * An upload body that is larger than all buffers on the way. It is created once, because the server
 * shares the event loop and refuses requests under load.
 */
const BIG = Buffer.alloc(8 * MEBIBYTE);

let lines: string[] = [];
let admissions = 0;

const media = await startMediaStandIn();
const peers = { mediaUrl: media.url, uploadOrigins: [ORIGIN] };
const destination = { write: (line: string) => void lines.push(line) };
const logger = createLogger({ service: "gateway", level: "trace", destination });
const admit = () => {
  admissions++;
  return admitted();
};
const app = await createTestServer(peers, admit, logger);
const url = await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(async () => {
  await app.close();
  await media[Symbol.asyncDispose]();
});

const QUERY = `?token=${uploadTokenOf("t")}`;

const put = (query = QUERY, init: RequestInit = {}) =>
  fetch(`${url}/uploads/${MEDIA_ID}${query}`, { method: "PUT", body: "bytes", ...init });

async function summary(answer: Response) {
  const body = (await answer.json()) as { error: { code: string } };
  return [answer.status, body.error.code];
}

/** Makes the simulated media service accept every upload; returns the body that it received. */
function accept(): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  media.handle((request, response) => {
    void buffer(request).then((bytes) => {
      resolve(bytes);
      response.writeHead(204).end();
    });
  });
  return promise;
}

const theRequest = (): IncomingMessage => {
  const [request] = media.seen;
  if (request === undefined) throw new Error("media was not asked");
  return request;
};

test("an upload needs no API key, only the token in its URL, and reaches the media service unchanged", async () => {
  const bytes = randomBytes(3 * MEBIBYTE);
  const received = accept();
  const before = admissions;
  const answer = await put(`?token=${uploadTokenOf("t0k/en")}`, {
    body: bytes,
    headers: {
      "content-type": "video/mp4",
      "content-digest": "sha-256=:x:",
      "x-request-id": "mine",
      cookie: "a=b",
    },
  });
  expect([answer.status, await answer.text(), answer.headers.get("x-request-id")]).toEqual([
    204,
    "",
    "mine",
  ]);
  expect((await received).equals(bytes)).toBe(true);
  expect(theRequest()).toMatchObject({ method: "PUT", url: `/uploads/${MEDIA_ID}` });
  expect(theRequest().headers).toMatchObject({
    "x-upload-token": "t0k/en",
    "x-request-id": "mine",
    "content-type": "video/mp4",
    "content-length": String(bytes.length),
    "content-digest": "sha-256=:x:",
  });
  expect(theRequest().headers).not.toHaveProperty("cookie");
  const access = identities.accessOf("media");
  expect(await access.authenticate((name) => String(theRequest().headers[name]))).toBe("gateway");
  expect(admissions).toBe(before);
  expect(answer.headers.get("ratelimit")).toBeNull();
});

test("an upload may send its token as a bearer token", async () => {
  void accept();
  const answer = await put("", { headers: { authorization: `Bearer ${uploadTokenOf("abc-_")}` } });
  expect(answer.status).toBe(204);
  expect(theRequest().headers).toMatchObject({ "x-upload-token": "abc-_" });
});

test("an upload of unknown length reaches the media service in chunks", async () => {
  const received = accept();
  const body = new ReadableStream({
    start: async (controller) => {
      controller.enqueue(new TextEncoder().encode("ab"));
      await eventually(() => media.seen.length === 1);
      controller.enqueue(new TextEncoder().encode("c"));
      controller.close();
    },
  });
  const answer = await put(QUERY, { body, duplex: "half" });
  expect(answer.status).toBe(204);
  expect(String(await received)).toBe("abc");
  expect(theRequest().headers).toMatchObject({ "transfer-encoding": "chunked" });
});

test("an upload without a body reaches the media service, which answers that the body is missing", async () => {
  media.handle((_request, response) => refuse(response, unprocessable("media_rejected")));
  expect(await summary(await put(QUERY, { body: null }))).toEqual([422, "media_rejected"]);
  expect(theRequest().headers).not.toHaveProperty("transfer-encoding");
});

test("an upload with the header Expect: 100-continue is answered with 100 before its body is sent", async () => {
  const received = accept();
  const headers = { expect: "100-continue", "content-length": "5" };
  const client = httpRequest(`${url}/uploads/${MEDIA_ID}${QUERY}`, { method: "PUT", headers });
  client.on("continue", () => client.end("bytes"));
  const answer = new Promise<IncomingMessage>((resolve) => {
    client.on("response", resolve);
  });
  client.flushHeaders();
  expect((await answer).statusCode).toBe(204);
  expect(String(await received)).toBe("bytes");
  expect(theRequest().headers).not.toHaveProperty("expect");
});

test.each(["", "?token=", "?token=a&token=b", "?other=1"])(
  "an upload with the query string %j is answered with 404, without a call to the media service",
  async (query) => {
    media.handle((_request, response) => response.writeHead(204).end());
    const answer = await put(query, { headers: { "content-type": "image/png" } });
    expect(await summary(answer)).toEqual([404, "not_found"]);
    expect(media.seen).toEqual([]);
  },
);

/**
 * Sends a PUT request with an HTTP client that does not normalize the path, and returns the answer.
 */
async function putRaw(path: string) {
  const { hostname, port } = new URL(url);
  const client = httpRequest({ hostname, port, path, method: "PUT" });
  client.end("bytes");
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    client.on("response", resolve);
    client.on("error", reject);
  });
  const body = (await json(answer)) as { error: { code: string } };
  return [answer.statusCode, body.error.code];
}

test.each([
  ["the path is ..", `..${QUERY}`],
  ["the path is .", `.${QUERY}`],
  ["the path is an escaped ..", `%2e%2e${QUERY}`],
  ["the path leads to another folder", `..%2Fobjects%2Fa${QUERY}`],
  ["the id has capitals", `${MEDIA_ID.toUpperCase()}${QUERY}`],
  ["the id ends in a NUL character", `${MEDIA_ID}%00${QUERY}`],
  ["the path is not an id", `x${QUERY}`],
  ["the token is a line feed", `${MEDIA_ID}?token=%0a`],
  ["the token contains another header", `${MEDIA_ID}?token=a%0d%0ax-other:%201`],
  ["the token is an emoji", `${MEDIA_ID}?token=%F0%9F%98%80`],
  ["the token is too long", `${MEDIA_ID}?token=${"a".repeat(513)}`],
])(
  "an upload with an invalid path or token (%s) is answered with 404, without a call to the media service",
  async (_what, path) => {
    media.handle((_request, response) => response.writeHead(204).end());
    expect(await putRaw(`/uploads/${path}`)).toEqual([404, "not_found"]);
    expect(media.seen).toEqual([]);
  },
);

test.each<[number, ServiceError]>([
  [400, invalidRequest()],
  [404, notFound()],
  [409, conflict("upload_already_received")],
  [413, new ServiceError("invalid", "payload_too_large", [{ code: "payload_too_large" }])],
  [415, new ServiceError("invalid", "unsupported_media_type")],
  [422, unprocessable("media_rejected", [{ code: "media_length_mismatch", limit: 5 }])],
  [503, new ServiceError("unavailable", "unavailable", [], { retryAfterMs: 4_200 })],
])(
  "an upload that the media service refuses is answered with %i and the error format of the API",
  async (status, error) => {
    media.handle((request, response) => {
      request.resume();
      request.on("end", () => refuse(response, error));
    });
    const answer = await put();
    expect(await summary(answer)).toEqual([status, error.reason]);
    expect(answer.headers.get("retry-after")).toBe(status === 503 ? "5" : null);
  },
);

test("the refusal of an upload by the media service reaches a client that is still sending, and the next upload succeeds", async () => {
  media.handle((_request, response) => refuse(response, conflict("upload_already_received")));
  const answer = await put(QUERY, { body: BIG });
  expect(await summary(answer)).toEqual([409, "upload_already_received"]);
  void accept();
  expect((await put()).status).toBe(204);
});

test("the refusal of an upload reaches a client that asked with Connection: close to end the connection after the answer", async () => {
  media.handle((_request, response) => refuse(response, conflict("upload_already_received")));
  const answers = Array.from({ length: 5 }, async (_, index) => {
    const client = httpRequest(`${url}/uploads/${MEDIA_ID}?token=${uploadTokenOf(`t${index}`)}`, {
      method: "PUT",
      agent: false,
      headers: { connection: "close", "content-length": BIG.length },
    });
    client.end(BIG);
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      client.on("response", resolve);
      client.on("error", reject);
    });
    return [answer.statusCode, (await json(answer)) as object];
  });
  for (const answer of await Promise.all(answers))
    expect(answer).toMatchObject([409, { error: { code: "upload_already_received" } }]);
});

test("a client that continues to send after its upload was refused is disconnected", async () => {
  media.handle((_request, response) => refuse(response, notFound()));
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  const closed = new Promise((resolve) => {
    socket.once("close", resolve);
  });
  let answer = "";
  socket.on("data", (chunk) => {
    answer += String(chunk);
  });
  socket.on("error", () => undefined);
  socket.write(
    `PUT /uploads/${MEDIA_ID}${QUERY} HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nabc`,
  );
  await eventually(() => answer.endsWith("}}"));
  expect(answer).toContain("404 Not Found");
  await closed;
});

test("the answer to a failed upload contains no text of a proxy between the gateway and the media service", async () => {
  media.handle((_request, response) => response.writeHead(502).end("<html>10.0.0.7"));
  const answer = await put();
  expect(answer.status).toBeGreaterThanOrEqual(500);
  expect(await answer.text()).not.toContain("10.0.0.7");
});

test.each([
  ["Content-Length: 99", "abc"],
  ["Transfer-Encoding: chunked", "3\r\nabc\r\n"],
])(
  "when the client disconnects during an upload with %s, the media service receives an incomplete body",
  async (header, start) => {
    const cut = Promise.withResolvers<boolean>();
    media.handle((request) => {
      request.resume();
      request.once("close", () => cut.resolve(!request.complete));
    });
    const socket = connect(Number(new URL(url).port), "127.0.0.1");
    socket.write(
      `PUT /uploads/${MEDIA_ID}${QUERY} HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${start}`,
    );
    await eventually(() => media.seen.length === 1);
    socket.destroy();
    expect(await cut.promise).toBe(true);
  },
);

test("when the media service disconnects during an upload, the client is answered with 503 and can try again", async () => {
  media.handle((request) => {
    request.once("data", () => request.socket.destroy());
  });
  const answer = await put(QUERY, { body: BIG });
  expect(await summary(answer)).toEqual([503, "unavailable"]);
  expect(answer.headers.get("retry-after")).toBe("1");
});

/** Starts an upload that the client never ends. */
async function startUpload(base: string, token: string) {
  const socket = connect(Number(new URL(base).port), "127.0.0.1");
  socket.on("error", () => undefined);
  const before = media.seen.length;
  socket.write(
    `PUT /uploads/${MEDIA_ID}?token=${uploadTokenOf(token)} HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\na`,
  );
  await eventually(() => media.seen.length > before);
  return socket;
}

test("a second upload with the same upload token is refused while the first upload runs, and allowed afterwards", async () => {
  media.handle((request) => void request.resume());
  const first = await startUpload(url, "t");
  const refused = await put();
  expect(await summary(refused)).toEqual([503, "unavailable"]);
  expect(refused.headers.get("retry-after")).toBe("1");
  first.destroy();
  void accept();
  await eventually(async () => (await put()).status === 204);
});

test("uploads from one IP address take at most half of the gateway's permits for concurrent uploads", async () => {
  await using small = await createTestServer({
    mediaUrl: media.url,
    maxInFlight: 4,
    trustedProxies: ["loopback"],
  });
  const base = await small.listen({ host: "127.0.0.1", port: 0 });
  media.handle((request) => void request.resume());
  const sockets = [await startUpload(base, "a"), await startUpload(base, "b")];
  const send = (token: string, address: string) =>
    fetch(`${base}/uploads/${MEDIA_ID}?token=${uploadTokenOf(token)}`, {
      method: "PUT",
      body: "bytes",
      headers: { "x-forwarded-for": address },
    });
  expect((await send("c", "127.0.0.1")).status).toBe(503);
  void accept();
  expect((await send("d", "203.0.113.1")).status).toBe(204);
  for (const socket of sockets) socket.destroy();
});

test("the gateway reads the body of an upload no faster than the media service does", async () => {
  const started = Promise.withResolvers<IncomingMessage>();
  media.handle((request, response) => {
    request.once("end", () => response.writeHead(204).end());
    started.resolve(request);
  });
  let sent = 0;
  const total = 32 * MEBIBYTE;
  const body = new ReadableStream({
    pull: (controller) => {
      if (sent === total) controller.close();
      else controller.enqueue(new Uint8Array(MEBIBYTE));
      sent = Math.min(total, sent + MEBIBYTE);
    },
  });
  const answer = put(QUERY, { body, duplex: "half" });
  const request = await started.promise;
  let last = -1;
  await eventually(() => {
    const isSame = sent === last;
    last = sent;
    return isSame;
  });
  expect(sent).toBeLessThan(total / 2);
  request.resume();
  expect((await answer).status).toBe(204);
});

const preflight = (origin: string) =>
  fetch(`${url}/uploads/${MEDIA_ID}${QUERY}`, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "PUT",
      "access-control-request-headers": "content-type",
    },
  });

test("web pages of an allowed origin may upload files and read the errors", async () => {
  const asked = await preflight(ORIGIN);
  expect(asked.status).toBe(204);
  expect(Object.fromEntries(asked.headers)).toMatchObject({
    "access-control-allow-origin": ORIGIN,
    "access-control-allow-methods": "PUT",
    "access-control-allow-headers": "authorization, content-type, content-digest, x-request-id",
    vary: "Origin",
  });
  void accept();
  for (const [query, status] of [
    [QUERY, 204],
    ["", 404],
  ] as const) {
    const answer = await put(query, { headers: { origin: ORIGIN } });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([
      status,
      ORIGIN,
    ]);
    expect(answer.headers.get("access-control-allow-credentials")).toBeNull();
  }
});

test.each(["https://evil.example", "null", `${ORIGIN}.evil.example`])(
  "web pages of the origin %s must not upload files",
  async (origin) => {
    void accept();
    const answers = [await preflight(origin), await put(QUERY, { headers: { origin } })];
    for (const { headers } of answers) {
      expect(headers.get("access-control-allow-origin")).toBeNull();
      expect(headers.get("vary")).toBe("Origin");
    }
  },
);

test("web pages of an origin that is allowed to upload must not call the API", async () => {
  const answer = await fetch(`${url}/api/v1/posts`, { headers: { origin: ORIGIN } });
  expect(answer.headers.get("access-control-allow-origin")).toBeNull();
});

test("a request to an upload URL with another method than PUT needs no API key and is answered with 405 and Allow: PUT", async () => {
  const answer = await fetch(`${url}/uploads/${MEDIA_ID}`);
  expect(await summary(answer)).toEqual([405, "method_not_allowed"]);
  expect(answer.headers.get("allow")).toBe("OPTIONS, PUT");
});

test("the tokens and contents of uploads are not logged", async () => {
  void accept();
  lines = [];
  const token = uploadTokenOf("canary");
  await put(`?token=${token}`, { body: "canary" });
  media.handle((request) => {
    request.socket.destroy();
  });
  await put("", { headers: { authorization: `Bearer ${token}` } });
  await eventually(() => lines.length >= 2);
  expect(lines.join("")).not.toContain("canary");
  expect(lines.join("")).not.toContain(token);
  expect(lines.join("")).toContain("/uploads/:uploadPath");
});
