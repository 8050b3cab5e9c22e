import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { connect, type AddressInfo, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { setInterval as everyMs } from "node:timers/promises";
import { eventually } from "@postrider/shared/testing/poll";
import type { FastifyInstance, InjectOptions } from "fastify";
import { afterAll, expect, test } from "vitest";
import type { Admission } from "#src/admission/admission.ts";
import {
  admitted,
  createTestServer,
  MEDIA_ID,
  POST_ID,
  type Peers,
  uploadTokenOf,
} from "./fixture.ts";
import { startMediaStandIn } from "./media-stand-in.ts";

/**
 * Time limits for slow clients that are short enough for a test, and much longer than the pause
 * between two bytes.
 */
const STALL_MS = 1_500;
const PATIENCE = {
  headersMs: 800,
  requestMs: 1_000,
  transferRate: { bytesPerSecond: 1_000, stallMs: STALL_MS },
};
const DRIP_MS = 20;

/** The requests that reached the posts service. */
const created: unknown[] = [];

const media = await startMediaStandIn();
const posts = {
  createPost: (request: unknown) => {
    created.push(request);
    return {};
  },
};
const app = await createTestServer({ mediaUrl: media.url, patience: PATIENCE, posts });
await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(async () => {
  await app.close();
  await media[Symbol.asyncDispose]();
});

async function dial(server: FastifyInstance = app): Promise<Socket> {
  const socket = connect((server.server.address() as AddressInfo).port, "127.0.0.1");
  socket.on("error", () => undefined);
  await once(socket, "connect");
  return socket;
}

/**
 * Writes to the socket byte by byte until the server closes the connection; returns the server's
 * answer.
 */
async function drip(socket: Socket, bytes = "x"): Promise<string> {
  const said = text(socket).catch(() => "");
  let index = 0;
  for await (const _ of everyMs(DRIP_MS)) {
    if (socket.destroyed || socket.readableEnded) return await said;
    socket.write(bytes[index++ % bytes.length] ?? "");
  }
  return await said;
}

async function send(lines: readonly string[], body = ""): Promise<string> {
  const socket = await dial();
  const said = text(socket);
  socket.write([...lines, "Connection: close", "", body].join("\r\n"));
  return await said;
}

test.concurrent("a client that sends its request line byte by byte is disconnected", async () => {
  const socket = await dial();
  socket.write("GET /");
  expect(await drip(socket)).toMatch(/^HTTP\/1\.1 408 .*"invalid_request"/s);
});

test.concurrent("a client that sends endless headers is disconnected", async () => {
  const socket = await dial();
  socket.write("GET /api/v1/posts HTTP/1.1\r\nHost: a\r\n");
  expect(await drip(socket, "X-A: b\r\n")).toMatch(/^HTTP\/1\.1 408 /);
});

test.concurrent("a client that sends a body byte by byte is disconnected", async () => {
  const socket = await dial();
  socket.write(
    "POST /api/v1/posts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 99999\r\n\r\n",
  );
  expect(await drip(socket)).toMatch(/^HTTP\/1\.1 408 /);
  expect(created).toEqual([]);
});

test.concurrent("an upload below the minimum rate is aborted and releases its upload permit, even if it never pauses", async () => {
  const { promise: isCut, resolve } = Promise.withResolvers<boolean>();
  media.handle((request) => {
    request.resume();
    request.once("close", () => resolve(!request.complete));
  });
  // If this process does not run for `STALL_MS`, the gateway aborts the upload before it reaches
  // the media service.
  while (media.seen.length === 0) {
    const socket = await dial();
    socket.write(
      `PUT /uploads/${MEDIA_ID}?token=${uploadTokenOf("t")} HTTP/1.1\r\nHost: a\r\nContent-Length: 99999\r\n\r\n`,
    );
    await drip(socket);
  }
  expect(await isCut).toBe(true);
});

test.concurrent("a client that does not read its answer is disconnected", async () => {
  await using server = await createTestServer({ patience: { silenceMs: 300 } });
  await server.listen({ host: "127.0.0.1", port: 0 });
  const closed = new Promise<void>((resolve) => {
    server.server.once("connection", (accepted: Socket) => accepted.once("close", resolve));
  });
  const patient = await dial(server);
  patient.pause();
  // The five answers together are larger than the kernel's socket buffers, so the gateway notices
  // that the client does not read.
  const ask = "GET /docs/js/scalar.js HTTP/1.1\r\nHost: a\r\n\r\n";
  patient.write(ask.repeat(5));
  await closed;
  patient.destroy();
});

test("an upload at a steady rate may take longer than the sum of all time limits", async () => {
  const { promise: stored, resolve } = Promise.withResolvers<number>();
  media.handle((request, response) => {
    let bytes = 0;
    request.on("data", (piece: Buffer) => (bytes += piece.length));
    request.once("end", () => {
      resolve(bytes);
      response.writeHead(204).end();
    });
  });
  const socket = await dial();
  const said = text(socket);
  const piece = randomBytes(500);
  const pieces = 180;
  socket.write(
    `PUT /uploads/${MEDIA_ID}?token=${uploadTokenOf("t")} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${piece.length * pieces}\r\n\r\n`,
  );
  const startedAt = performance.now();
  let sent = 0;
  for await (const _ of everyMs(DRIP_MS)) {
    socket.write(piece);
    if (++sent === pieces) break;
  }
  expect(await said).toMatch(/^HTTP\/1\.1 204 /);
  expect(await stored).toBe(piece.length * pieces);
  const { headersMs, requestMs } = PATIENCE;
  expect(performance.now() - startedAt).toBeGreaterThan(headersMs + requestMs + STALL_MS);
});

test("an upload is not aborted for being slow while the media service does not read from it", async () => {
  const { promise: mayRead, resolve: read } = Promise.withResolvers<void>();
  media.handle((request, response) => {
    void mayRead.then(() => request.resume());
    request.once("end", () => response.writeHead(204).end());
  });
  const body = randomBytes(16 * 1024 * 1024);
  const socket = await dial();
  const said = text(socket);
  socket.write(
    `PUT /uploads/${MEDIA_ID}?token=${uploadTokenOf("t")} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  socket.write(body);
  // Waits for longer than an upload may stand still, while the media service reads nothing from
  // this one.
  const startedAt = performance.now();
  await eventually(() => performance.now() - startedAt > STALL_MS * 2);
  read();
  expect(await said).toMatch(/^HTTP\/1\.1 204 /);
});

const HEAD = ["POST /api/v1/posts HTTP/1.1", "Host: a", "Content-Type: application/json"];

test.each<[string, readonly string[], string]>([
  ["a length and chunks", ["Content-Length: 4", "Transfer-Encoding: chunked"], "0\r\n\r\n"],
  ["chunks and a length", ["Transfer-Encoding: chunked", "Content-Length: 4"], "0\r\n\r\n"],
  ["two lengths", ["Content-Length: 2", "Content-Length: 3"], "{} "],
  ["a list of lengths", ["Content-Length: 2, 2"], "{}"],
  ["a length with a sign", ["Content-Length: +2"], "{}"],
  ["a length in hex", ["Content-Length: 0x2"], "{}"],
  ["an unknown coding", ["Transfer-Encoding: chunked, identity"], "0\r\n\r\n"],
  ["a coding twice", ["Transfer-Encoding: xchunked"], "0\r\n\r\n"],
  ["a space before the colon", ["Content-Length : 2"], "{}"],
  ["a header on two lines", ["X-A: b", " Transfer-Encoding: chunked", "Content-Length: 2"], "{}"],
  ["a header without a name", [": a", "Content-Length: 2"], "{}"],
  ["a NUL in a header", ["X-A: a\0b", "Content-Length: 2"], "{}"],
  ["a bare carriage return", ["X-A: a\rX-B: c", "Content-Length: 2"], "{}"],
  ["a chunk with a sign", ["Transfer-Encoding: chunked"], "+2\r\n{}\r\n0\r\n\r\n"],
  ["a chunk longer than any number", ["Transfer-Encoding: chunked"], `${"f".repeat(20)}\r\n{}`],
])(
  "a request that a proxy and the gateway may parse differently is refused: %s",
  async (_, headers, body) => {
    const before = created.length;
    expect(await send([...HEAD, ...headers], body)).toMatch(
      /^HTTP\/1\.1 4\d\d .*\{"error":\{"code":"invalid_request"/s,
    );
    expect(created).toHaveLength(before);
  },
);

test.each([
  ["a tunnel (CONNECT)", ["CONNECT a:443 HTTP/1.1", "Host: a"]],
  ["another protocol (Upgrade)", ["GET /livez HTTP/1.1", "Host: a", "Upgrade: websocket"]],
  ["another HTTP version", ["GET /livez HTTP/3.0", "Host: a"]],
  [
    "an echo of the request (TRACE)",
    ["TRACE /api/v1/posts HTTP/1.1", "Host: a", "X-Canary: echoed"],
  ],
])("the gateway does not provide %s when a client asks for it", async (_, lines) => {
  const said = await send(lines);
  expect(said).not.toMatch(/^HTTP\/1\.1 101 /);
  expect(said).not.toContain("echoed");
  expect(said.match(/^HTTP\/1\.1 /gm)?.length ?? 0).toBeLessThanOrEqual(1);
});

test("a request without a Host header is refused", async () => {
  expect(await send(["GET /api/v1/posts HTTP/1.1"])).toMatch(/^HTTP\/1\.1 400 /);
});

test("more than 16 KiB of headers are refused", async () => {
  const many = Array.from({ length: 120 }, (_, index) => `X-${index}: a`);
  const answer = await send(["GET /api/v1/posts HTTP/1.1", "Host: a", ...many]);
  expect(answer).toMatch(/^HTTP\/1\.1 400 .*"too_many_headers".*"limit":100/s);
});

test("a query string that is too long is refused", async () => {
  const answer = await send([`GET /api/v1/posts?cursor=${"x".repeat(20_000)} HTTP/1.1`, "Host: a"]);
  expect(answer).toMatch(/^HTTP\/1\.1 431 .*"invalid_request"/s);
});

test.each([
  ["that repeats one parameter 1,000 times", "cursor=a&".repeat(1_000)],
  ["with 2,000 parameters", Array.from({ length: 2_000 }, (_, index) => `${index}=`).join("&")],
  ["with nested brackets", "a[b][c][d]=1&a[__proto__][e]=2&__proto__[f]=3&constructor=4"],
])("a query string %s is refused", async (_, query) => {
  const answer = await app.inject({ url: `/api/v1/posts?${query}` });
  expect([answer.statusCode, codeOf(answer)]).toEqual([400, "invalid_request"]);
  expect(
    ({} as Record<string, unknown>)["e"] ?? ({} as Record<string, unknown>)["f"],
  ).toBeUndefined();
});

type Answer = Awaited<ReturnType<typeof app.inject>>;

function codeOf(answer: Answer): string {
  return answer.json<{ error: { code: string } }>().error.code;
}

const post = (payload: string) =>
  app.inject({
    method: "POST",
    url: "/api/v1/posts",
    headers: { "content-type": "application/json" },
    payload,
  });

test.each([
  `{"content":"a","accountIds":["${POST_ID}"],"__proto__":{"isDraft":true}}`,
  `{"content":"a","accountIds":["${POST_ID}"],"constructor":{"prototype":{"isDraft":true}}}`,
  `{"content":"a","accountIds":["${POST_ID}"],"options":{"__proto__":{"content":"b"}}}`,
  `{"content":"a","accountIds":["${POST_ID}"],"options":{"x":{"__proto__":{"content":"b"}}}}`,
  `{"content":"a","accountIds":["${POST_ID}"],"options":{"x":{"toString":"b"}}}`,
  `{"content":"a","accountIds":["${POST_ID}"],"hasOwnProperty":1}`,
])("the body %s is refused and does not change the prototype of objects", async (payload) => {
  const answer = await post(payload);
  expect([answer.statusCode, codeOf(answer)]).toEqual([400, "invalid_request"]);
  expect(({} as Record<string, unknown>)["isDraft"]).toBeUndefined();
});

test("if a JSON body repeats a key, the last value is both checked and used", async () => {
  created.length = 0;
  await post(
    `{"content":7,"accountIds":["unknown"],"content":"the last","accountIds":["${POST_ID}"]}`,
  );
  expect(created).toMatchObject([{ content: "the last", accountIds: [POST_ID] }]);
});

const LIMIT = 300;

async function open(peers: Peers = {}, admit?: Admission["admit"]): Promise<FastifyInstance> {
  const authorizations = { findConnectLink: () => ({ outcome: "unknown" as const }) };
  return await createTestServer({ authorizations, ...peers }, admit);
}

const from = (remoteAddress: string, url: string, headers = {}): InjectOptions => ({
  url,
  remoteAddress,
  headers,
});

/**
 * Sends requests until one is rate-limited. The rate limit allows further requests while this
 * function runs; they are used up as well.
 */
async function useUp(server: FastifyInstance, address: string, url = "/docs"): Promise<Answer> {
  for (let count = 0; count <= LIMIT * 2; count++) {
    const answer = await server.inject(from(address, url));
    if (answer.statusCode === 429) {
      answered.push(count);
      return answer;
    }
  }
  throw new Error("there is no limit");
}

/**
 * For each call of `useUp`, the number of requests that were answered before the rate limit refused
 * one.
 */
const answered: number[] = [];

const linkSecret = "a".repeat(43);

test.each([
  ["to the documentation", ["/docs", "/docs/", "/api/v1/openapi.json"]],
  ["to the pages that connect an account", [`/connect/${linkSecret}`]],
  ["for paths that do not exist", ["/wp-login", "/wp-admin"]],
])(
  "requests %s share one limit per client address, and the refusal says how long to wait",
  async (_what, urls) => {
    await using server = await open();
    await useUp(server, "192.0.2.1", urls[0]);
    expect(answered.at(-1)).toBeGreaterThanOrEqual(LIMIT);
    for (const url of urls) {
      const answer = await useUp(server, "192.0.2.1", url);
      expect(answered.at(-1)).toBeLessThan(LIMIT / 10);
      expect(codeOf(answer), url).toBe("rate_limited");
      expect(Number(answer.headers["retry-after"])).toBeGreaterThanOrEqual(1);
      expect(answer.headers["ratelimit-policy"]).toBe('"address";q=300;w=60');
    }
    const other = await server.inject(from("192.0.2.2", `/connect/${linkSecret}`));
    expect(other.statusCode).toBe(404);
    expect(other.headers["ratelimit"]).toBe('"address";r=299;t=1');
  },
);

test("the rate limit of pages that need no API key does not count requests with an API key, health probes and media downloads", async () => {
  await using server = await open();
  await useUp(server, "192.0.2.1");
  for (const url of ["/api/v1/accounts", "/livez", "/media/nothing"])
    expect((await server.inject(from("192.0.2.1", url))).statusCode, url).not.toBe(429);
});

test("all addresses of an IPv6 /64 network share the rate limit of pages that need no API key", async () => {
  await using server = await open();
  await useUp(server, "2001:db8:1:2::1");
  await useUp(server, "2001:db8:1:2:ffff:ffff:ffff:ffff");
  expect(answered.at(-1)).toBeLessThan(LIMIT / 10);
  await useUp(server, "2001:db8:1:3::1");
  expect(answered.at(-1)).toBeGreaterThanOrEqual(LIMIT);
});

test("X-Forwarded-For is ignored unless a trusted proxy sent it", async () => {
  const seen: string[] = [];
  const admit: Admission["admit"] = ({ address }) => {
    seen.push(address);
    return admitted();
  };
  const claim = { "x-forwarded-for": "198.51.100.7, 203.0.113.9" };
  const ask = async (server: FastifyInstance, address: string) => {
    await server.inject(from(address, "/api/v1/accounts", claim));
    return seen.at(-1);
  };
  await using alone = await open({}, admit);
  expect(await ask(alone, "10.1.2.3")).toBe("10.1.2.3");
  await using behind = await open({ trustedProxies: ["10.0.0.0/8"] }, admit);
  // In the header, the trusted proxy added the last address. The client itself sent the addresses
  // before it, so they are not trusted.
  expect(await ask(behind, "10.1.2.3")).toBe("203.0.113.9");
  expect(await ask(behind, "192.0.2.1")).toBe("192.0.2.1");
});
