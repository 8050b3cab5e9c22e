import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { createServer as createTlsServer, type TlsOptions } from "node:tls";
import { selfSignedCertificate } from "@postrider/shared/testing/certificate";
import { eventually } from "@postrider/shared/testing/poll";
import { afterEach, expect, test } from "vitest";
import type { Attempt } from "#src/webhooks/domain/attempt.ts";
import { createSigner } from "#src/webhooks/domain/signature.ts";
import { DISPATCHER_SETTINGS } from "#src/webhooks/jobs/dispatch-webhooks/dependencies.ts";
import {
  ReceiverConnections,
  type ConnectionOptions,
} from "#src/webhooks/jobs/dispatch-webhooks/receiver-connections.ts";
import { sendWebhook } from "#src/webhooks/jobs/dispatch-webhooks/send-webhook.ts";
import { RULES, startReceiver } from "./fixture.ts";

/**
 * What a hostile webhook receiver does with a connection, from the moment at which it has read the
 * first bytes.
 */
type Behaviour = (socket: Socket) => void | Promise<void>;

interface HostileReceiver extends AsyncDisposable {
  readonly port: number;
  readonly connections: number;
}

/** Sends a text one byte at a time, with a pause after each byte, until the connection ends. */
function drip(text: string, everyMs = 20): Behaviour {
  return async (socket) => {
    for (const byte of text) {
      if (socket.destroyed) return;
      socket.write(byte);
      await sleep(everyMs);
    }
  };
}

/** Sends a chunk as fast as the connection takes it, up to `total` bytes. */
function flood(head: string, chunk: string, total: number): Behaviour {
  return async (socket) => {
    socket.write(head);
    for (let sent = 0; sent < total && !socket.destroyed; sent += chunk.length)
      if (!socket.write(chunk)) await Promise.race([once(socket, "drain"), once(socket, "close")]);
    socket.end();
  };
}

function answer(text: string): Behaviour {
  return (socket) => void socket.end(text);
}

async function startHostile(
  behave: Behaviour,
  options: {
    readonly tls?: TlsOptions;
    /**
     * Whether the receiver's behaviour begins when it accepts the connection. Default: with the
     * first bytes of the request.
     */
    readonly atOnce?: boolean;
  } = {},
): Promise<HostileReceiver> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const onConnection = (socket: Socket): void => {
    connections += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.on("close", () => sockets.delete(socket));
    const start = () => void Promise.resolve(behave(socket)).catch(() => undefined);
    if (options.atOnce === true) start();
    else socket.once("data", start);
  };
  const server: Server =
    options.tls === undefined
      ? createServer(onConnection)
      : createTlsServer(options.tls, onConnection);
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}

/**
 * Deadline of webhook attempts that are expected to reach it. The first bytes of a response arrive
 * earlier, even on a loaded machine.
 */
const ATTEMPT_MS = 1_500;
/**
 * Deadline of webhook attempts that are expected to end for another reason, even on a loaded
 * machine.
 */
const PATIENT_MS = 20_000;
/** How much longer than its deadline a webhook attempt may take on a loaded machine. */
const MARGIN_MS = 3_000;
const OK = "HTTP/1.1 200 OK\r\n";

const open: ReceiverConnections[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((connections) => connections[Symbol.asyncDispose]()));
});

function openConnections(options: Partial<ConnectionOptions> = {}): ReceiverConnections {
  const connections = new ReceiverConnections({ rules: RULES, ...options });
  open.push(connections);
  return connections;
}

const signer = createSigner(`whsec_${Buffer.alloc(32, 1).toString("base64")}`);

interface SendInput {
  readonly connections?: ReceiverConnections;
  readonly attemptMs?: number;
  readonly payload?: string;
}

async function send(text: string, input: SendInput = {}): Promise<Attempt> {
  const url = new URL(text);
  const receiver = {
    subscriptionId: "s1",
    version: 1,
    isActive: true,
    url: url.href,
    origin: url.origin,
    hostname: url.hostname,
    port: Number(url.port),
    path: url.pathname + url.search,
    maxPerSecond: null,
    signersAt: () => [signer],
  };
  const delivery = {
    deliveryId: "d1",
    subscriptionId: "s1",
    eventId: "e1",
    attemptCount: 0,
    latenessMs: 0,
    payload: input.payload ?? '{"a":1}',
    cause: {},
  };
  const { connections = openConnections(), attemptMs = PATIENT_MS } = input;
  return await sendWebhook({ connections, attemptMs }, receiver, delivery);
}

/** The fields of a webhook attempt that the tables of these tests compare. */
function summary({ statusCode, error }: Attempt) {
  return { statusCode, error };
}

test("no other process sends a webhook delivery until 5 s after the time limit of 15 s of its current attempt", () => {
  expect(DISPATCHER_SETTINGS).toMatchObject({ attemptMs: 15_000, sendingMs: 20_000 });
});

const HANG: Behaviour = () => undefined;
const BIG = "x".repeat(65_536);

/**
 * Each row contains the name of the receiver's behaviour, the behaviour, and the status and error
 * of the attempt.
 */
const BEHAVIOURS: readonly (readonly [string, Behaviour, number | null, string | null])[] = [
  ["reads the request and never answers", HANG, null, "timeout"],
  [
    "sends its status line one byte at a time",
    drip(`HTTP/1.1 200 ${"O".repeat(200)}\r\n`),
    null,
    "timeout",
  ],
  [
    "sends headers without an end, one at a time",
    drip(`${OK}${"X-A: b\r\n".repeat(90)}`),
    null,
    "timeout",
  ],
  [
    "sends 100 MB of body",
    flood(`${OK}Content-Length: 100000000\r\n\r\n`, BIG, 100_000_000),
    200,
    null,
  ],
  [
    "sends 100 MB of body with an error status",
    flood("HTTP/1.1 500 No\r\n\r\n", BIG, 100_000_000),
    500,
    "http_error",
  ],
  [
    "sends chunks without an end",
    flood(`${OK}Transfer-Encoding: chunked\r\n\r\n`, "1\r\na\r\n".repeat(10_000), 1e9),
    200,
    null,
  ],
  [
    "stops within its body after more bytes than are kept",
    (socket) => void socket.write(`${OK}Content-Length: 50000\r\n\r\n${"x".repeat(20_000)}`),
    200,
    null,
  ],
  [
    "sends chunks of which each announces 4 GB",
    answer(`${OK}Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\na`),
    200,
    "connection_failed",
  ],
  [
    "closes the connection without an answer",
    (socket) => void socket.end(),
    null,
    "connection_failed",
  ],
  ["resets the connection", (socket) => void socket.resetAndDestroy(), null, "connection_failed"],
  [
    "resets the connection within the body",
    (socket) =>
      void socket.write(`${OK}Content-Length: 9\r\n\r\nabc`, () => socket.resetAndDestroy()),
    200,
    "connection_failed",
  ],
  [
    "closes the connection before the announced length",
    answer(`${OK}Content-Length: 99\r\n\r\nabc`),
    200,
    "connection_failed",
  ],
  ["ends its body by closing the connection", answer(`${OK}\r\nabc`), 200, null],
  [
    "announces a body and sends none",
    (socket) => void socket.write(`${OK}Content-Length: 9\r\n\r\n`),
    200,
    "body_timeout",
  ],
  [
    "announces a negative length",
    answer(`${OK}Content-Length: -1\r\n\r\n`),
    null,
    "connection_failed",
  ],
  [
    "announces two different lengths",
    answer(`${OK}Content-Length: 1\r\nContent-Length: 2\r\n\r\na`),
    null,
    "connection_failed",
  ],
  [
    "answers with bytes that are not HTTP",
    answer("\0\x01\x02 SSH-2.0-x\r\n\r\n"),
    null,
    "connection_failed",
  ],
  ["answers with another protocol", answer("220 smtp ready\r\n"), null, "connection_failed"],
  ["sends a header of 1 MB", flood(`${OK}X-A: `, BIG, 1_000_000), null, "too_large_headers"],
  [
    "sends 100,000 headers",
    flood(OK, "X-A: b\r\n".repeat(8_000), 800_000),
    null,
    "too_large_headers",
  ],
  [
    "sends interim responses without an end",
    flood("", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(1_000), 1e9),
    null,
    "connection_failed",
  ],
  ["asks to continue", answer("HTTP/1.1 100 Continue\r\n\r\n"), null, "connection_failed"],
  [
    "switches the protocol",
    answer("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n"),
    null,
    "connection_failed",
  ],
  [
    "redirects to a private address",
    answer("HTTP/1.1 302 Found\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"),
    302,
    "redirect_refused",
  ],
  [
    "redirects to itself with 308",
    answer("HTTP/1.1 308 Again\r\nLocation: /\r\nContent-Length: 0\r\n\r\n"),
    308,
    "redirect_refused",
  ],
  ["answers 410", answer("HTTP/1.1 410 Gone\r\nContent-Length: 0\r\n\r\n"), 410, "http_error"],
  ["answers 204", answer("HTTP/1.1 204 No\r\n\r\n"), 204, null],
  ["answers 204 with a body", answer("HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc"), 204, null],
  ["answers 299", answer("HTTP/1.1 299 OK\r\nContent-Length: 0\r\n\r\n"), 299, null],
  ["answers 999", answer("HTTP/1.1 999 X\r\nContent-Length: 0\r\n\r\n"), 999, "http_error"],
  [
    "answers twice",
    answer(`${OK}Content-Length: 1\r\n\r\na${OK}Content-Length: 1\r\n\r\nb`),
    200,
    null,
  ],
  [
    "says that its body is compressed",
    answer(`${OK}Content-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc`),
    200,
    null,
  ],
];

test.each(BEHAVIOURS)(
  "a webhook attempt to a receiver that %s ends within its deadline",
  async (_name, behave, statusCode, error) => {
    await using receiver = await startHostile(behave);
    const connections = openConnections();
    const startedAt = performance.now();
    const attemptMs = error?.endsWith("timeout") === true ? ATTEMPT_MS : PATIENT_MS;
    const attempt = await send(`http://127.0.0.1:${receiver.port}/`, { connections, attemptMs });
    expect(performance.now() - startedAt).toBeLessThan(attemptMs + MARGIN_MS);
    expect(summary(attempt)).toEqual({ statusCode, error });
    expect(Buffer.byteLength(attempt.responseBody ?? "")).toBeLessThanOrEqual(16_384);
    expect(attempt.responseBody === null).toBe(statusCode === null);
  },
);

test("a webhook attempt to a receiver that sends its body byte by byte ends at the deadline and records the part that arrived", async () => {
  await using receiver = await startHostile(async (socket) => {
    socket.write(`${OK}Content-Length: 500\r\n\r\n`);
    await drip("y".repeat(500))(socket);
  });
  const attempt = await send(`http://127.0.0.1:${receiver.port}/`, { attemptMs: ATTEMPT_MS });
  expect(summary(attempt)).toEqual({ statusCode: 200, error: "body_timeout" });
  expect(attempt.responseBody).toMatch(/^y+$/);
  expect(attempt.durationMs).toBeLessThan(ATTEMPT_MS + MARGIN_MS);
});

test("a webhook attempt to a receiver that accepts the connection and never reads ends at the attempt's deadline", async () => {
  await using receiver = await startHostile((socket) => void socket.pause(), { atOnce: true });
  const payload = JSON.stringify({ text: "x".repeat(8_000_000) });
  const attempt = await send(`http://127.0.0.1:${receiver.port}/`, {
    payload,
    attemptMs: ATTEMPT_MS,
  });
  expect(summary(attempt)).toEqual({ statusCode: null, error: "timeout" });
  expect(attempt.durationMs).toBeLessThan(ATTEMPT_MS + MARGIN_MS);
});

test("a webhook attempt to a port on which no process listens fails", async () => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, "close");
  expect(summary(await send(`http://127.0.0.1:${port}/`))).toEqual({
    statusCode: null,
    error: "connection_failed",
  });
});

test("a webhook attempt to a receiver that does not finish the TLS handshake ends after the maximum time to connect", async () => {
  await using receiver = await startHostile(HANG);
  const connections = openConnections({ connectMs: 100 });
  const attempt = await send(`https://127.0.0.1:${receiver.port}/`, {
    connections,
    attemptMs: 5_000,
  });
  expect(summary(attempt)).toEqual({ statusCode: null, error: "timeout" });
  expect(attempt.durationMs).toBeLessThan(100 + MARGIN_MS);
});

const { certificate, key } = selfSignedCertificate("hooks.example.com");
const resolve = async () => await Promise.resolve(["127.0.0.1"]);

test.each([
  ["a certificate of an unknown authority", "hooks.example.com", {}, "tls_failed"],
  ["a certificate for another host", "other.example.com", { ca: certificate }, "tls_failed"],
  ["a valid certificate", "hooks.example.com", { ca: certificate }, null],
])(
  "a webhook attempt over TLS to a receiver with %s succeeds only if the certificate is valid",
  async (_name, host, options, error) => {
    await using receiver = await startHostile(answer(`${OK}Content-Length: 0\r\n\r\n`), {
      tls: { key, cert: certificate },
    });
    const connections = openConnections({ resolve, ...options });
    const attempt = await send(`https://${host}:${receiver.port}/`, { connections });
    expect(attempt.error).toBe(error);
  },
);

test("a webhook attempt to a receiver with an expired certificate fails", async () => {
  const expired = selfSignedCertificate("hooks.example.com", { until: "210101000000Z" });
  await using receiver = await startHostile(HANG, {
    tls: { key: expired.key, cert: expired.certificate },
  });
  const connections = openConnections({ resolve, ca: expired.certificate });
  const attempt = await send(`https://hooks.example.com:${receiver.port}/`, { connections });
  expect(attempt.error).toBe("tls_failed");
});

test("a webhook attempt to a receiver that speaks HTTP on the port of an https address fails", async () => {
  await using receiver = await startHostile(answer(`${OK}\r\n`));
  const attempt = await send(`https://127.0.0.1:${receiver.port}/`);
  expect(attempt.error).toBe("tls_failed");
});

test.each([
  ["http://169.254.169.254/", "address_not_allowed"],
  ["http://10.0.0.1/", "address_not_allowed"],
  ["http://[::1]/", "address_not_allowed"],
  ["http://localhost/", "address_not_allowed"],
])("a webhook attempt to %s is refused before it connects", async (url, error) => {
  const connections = openConnections({ rules: { allow: [] } });
  expect((await send(url, { connections })).error).toBe(error);
});

test("a webhook receiver whose host name changes to a private address after the first delivery is refused at the next connection", async () => {
  await using receiver = await startHostile(answer(`${OK}Content-Length: 0\r\n\r\n`));
  const answers = [["127.0.0.1"], ["127.0.0.2"], ["127.0.0.1", "127.0.0.2"], []];
  const asked: string[] = [];
  const connections = openConnections({
    resolve: async (name) => {
      asked.push(name);
      const found = answers.shift() ?? [];
      if (found.length === 0) throw new Error("the name has no address");
      return await Promise.resolve(found);
    },
  });
  const url = `http://hooks.example.com:${receiver.port}/`;
  const errors: unknown[] = [];
  for (let count = 0; count < 4; count += 1) errors.push((await send(url, { connections })).error);
  // A private address has the same error as a name that does not exist, so that attempts do not
  // tell which names exist in our network.
  expect(errors).toEqual([null, "dns_failed", "dns_failed", "dns_failed"]);
  expect(asked).toHaveLength(4);
  expect(receiver.connections).toBe(1);
});

test("a webhook attempt ends after the maximum time to connect when the name server does not answer", async () => {
  const connections = openConnections({
    connectMs: 100,
    resolve: async (_name, signal) => {
      await once(signal, "abort");
      throw new Error("cancelled");
    },
  });
  const attempt = await send("http://hooks.example.com/", { connections });
  expect(attempt.error).toBe("dns_failed");
  expect(attempt.durationMs).toBeLessThan(100 + MARGIN_MS);
});

test("webhook deliveries to one receiver share a connection, which is opened again after the receiver closed it", async () => {
  await using receiver = await startReceiver((response) => void response.end("ok"));
  const connections = openConnections();
  for (let count = 0; count < 3; count += 1)
    expect((await send(receiver.url, { connections })).error).toBeNull();
  const ports = new Set(receiver.received.map(({ headers }) => headers.host));
  expect(ports.size).toBe(1);
  expect(connections.size).toBe(1);
});

test("a connection is used again after an answer with more bytes than are kept, because a new connection costs more than reading them", async () => {
  const sockets = new Set<unknown>();
  await using receiver = await startReceiver((response) => {
    sockets.add(response.socket);
    response.writeHead(500).end("x".repeat(32_000));
  });
  const options = { connections: openConnections() };
  for (let sent = 0; sent < 5; sent += 1)
    expect((await send(receiver.url, options)).responseBody).toBe("x".repeat(16_384));
  expect(sockets.size).toBe(1);
});

test("a webhook delivery is sent once more on a new connection when the receiver closes a reused connection on which the request arrives", async () => {
  let requests = 0;
  await using receiver = await startHostile((socket) => {
    socket.write(`${OK}Content-Length: 0\r\n\r\n`);
    requests += 1;
    // The receiver answers the first request on this connection, and closes the connection when the
    // second request arrives.
    socket.once("data", () => socket.resetAndDestroy());
  });
  const connections = openConnections();
  const url = `http://127.0.0.1:${receiver.port}/`;
  expect((await send(url, { connections })).error).toBeNull();
  expect((await send(url, { connections })).error).toBeNull();
  expect(requests).toBe(2);
  expect(receiver.connections).toBe(2);
});

test("idle connections to webhook receivers close after a few seconds, and all of them close when the process stops", async () => {
  await using receiver = await startHostile(
    (socket) => void socket.write(`${OK}Keep-Alive: timeout=1\r\nContent-Length: 0\r\n\r\n`),
  );
  const connections = openConnections();
  await send(`http://127.0.0.1:${receiver.port}/`, { connections });
  await eventually(() => connections.size === 0);
  await send(`http://127.0.0.1:${receiver.port}/`, { connections });
  await connections[Symbol.asyncDispose]();
  expect(connections.size).toBe(0);
});

test("after ten thousand webhook deliveries to different subscriptions, at most 512 connections stay open for reuse", async () => {
  await using receiver = await startReceiver();
  const connections = openConnections();
  const origin = new URL(receiver.url).origin;
  for (let count = 0; count < 10_000; count += 1) {
    const owner = { subscriptionId: `s${count}`, origin };
    const { client } = connections.acquire(owner);
    connections.release(owner, client);
  }
  expect(connections.size).toBe(512);
});

test("the memory of the process does not grow while webhook receivers send 100 MB each", async () => {
  const behave = flood(`${OK}Content-Length: 100000000\r\n\r\n`, BIG, 100_000_000);
  await using receiver = await startHostile(behave);
  const connections = openConnections();
  const url = `http://127.0.0.1:${receiver.port}/`;
  await Promise.all(Array.from({ length: 20 }, () => send(url, { connections })));
  const before = process.memoryUsage().rss;
  for (let round = 0; round < 10; round += 1)
    await Promise.all(Array.from({ length: 20 }, () => send(url, { connections })));
  expect(connections.size).toBe(0);
  expect(process.memoryUsage().rss - before).toBeLessThan(100_000_000);
});
