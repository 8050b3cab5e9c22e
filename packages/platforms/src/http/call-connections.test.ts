import { once } from "node:events";
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import {
  constants,
  createSecureServer,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import tls from "node:tls";
import { selfSignedCertificate } from "@postrider/shared/testing/certificate";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { callPlatform } from "./call-platform.ts";
import { bytesBody, jsonBody } from "./platform-request.ts";
import { sendOnce } from "./send-once.ts";

const { key, certificate } = selfSignedCertificate("localhost");
const trusted = tls.getCACertificates();
beforeAll(() => tls.setDefaultCACertificates([...trusted, certificate]));
afterAll(() => tls.setDefaultCACertificates(trusted));

const cleanups: (() => void)[] = [];
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup();
});

const guard = { mayStillSend: () => true, timeoutMs: 5000 };
const never = new AbortController().signal;

async function listen(server: Server | Http2Server): Promise<number> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** A platform that speaks HTTP/2 to every client that offers it, as most do. */
async function listenWithHttp2(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
) {
  const server = createSecureServer({ key, cert: certificate, allowHTTP1: true });
  server.on("request", (request, response) =>
    answer(request as unknown as IncomingMessage, response as unknown as ServerResponse),
  );
  return { server, port: await listen(server) };
}

/** Accepts connections, and passes their bytes on only after `release`. */
async function holdBack(port: number) {
  const held: Socket[] = [];
  let isReleased = false;
  const pass = (socket: Socket) => {
    const target = connect(port, "127.0.0.1");
    for (const each of [socket, target]) each.on("error", () => undefined);
    socket.pipe(target).pipe(socket);
  };
  const server = createServer((socket) => {
    if (isReleased) pass(socket);
    else held.push(socket);
  });
  const release = () => {
    isReleased = true;
    held.forEach(pass);
  };
  return { port: await listen(server), held, release };
}

test("a small call passes while any number of uploads to the same platform hold their connections", async () => {
  const uploads: IncomingMessage[] = [];
  const server = createHttpServer((request, response) => {
    if (request.method === "GET") response.end("{}");
    else uploads.push(request);
  });
  const url = `http://127.0.0.1:${await listen(server)}/media`;
  const controller = new AbortController();
  const body = bytesBody("video/mp4", {
    bytes: 2,
    read: async function* () {
      yield Buffer.from("1");
      await once(controller.signal, "abort");
    },
  });
  const uploading = Array.from({ length: 100 }, () =>
    callPlatform({ method: "POST", url, body }, controller.signal),
  );

  await eventually(() => uploads.length === 100);
  expect(await callPlatform({ method: "GET", url }, never)).toMatchObject({ status: 200 });

  controller.abort();
  await Promise.allSettled(uploading);
});

test("uploads and requests for tokens have connections of their own, also where the platform offers HTTP/2", async () => {
  const versions: string[] = [];
  const { port } = await listenWithHttp2((request, response) => {
    versions.push(request.httpVersion);
    request.resume();
    response.end("{}");
  });
  const url = `https://localhost:${port}/media`;
  const read = async function* () {
    yield Buffer.from("1");
  };

  await callPlatform(
    { method: "POST", url, body: bytesBody("video/mp4", { bytes: 1, read }) },
    never,
  );
  await callPlatform({ method: "POST", url, returnsTokens: true }, never);
  await callPlatform({ method: "GET", url }, never);

  expect(versions).toEqual(["1.1", "1.1", "2.0"]);
});

test("callPlatform gives up a call that still waits for its connection, and nothing of it reaches the platform later", async () => {
  const received: string[] = [];
  const { port } = await listenWithHttp2((request, response) => {
    received.push(`${request.method} ${request.url}`);
    request.resume();
    response.end("{}");
  });
  const platform = await holdBack(port);
  const reads: string[] = [];
  const callAt = (path: string, signal: AbortSignal) => {
    const url = `https://localhost:${platform.port}${path}`;
    const read = async function* () {
      reads.push(path);
      yield Buffer.from("1");
    };
    const body = bytesBody("video/mp4", { bytes: 1, read });
    return Promise.all([
      callPlatform({ method: "DELETE", url }, signal),
      callPlatform({ method: "POST", url, body }, signal),
    ]);
  };
  const controller = new AbortController();
  const early = callAt("/early", controller.signal);
  await eventually(() => platform.held.length === 2);

  controller.abort();
  const noAnswer = { kind: "no_answer" };
  expect(await early).toMatchObject([noAnswer, noAnswer]);

  platform.release();
  // Undici closes the upload's connection; the late DELETE waits behind the early one.
  await eventually(() => platform.held.some(({ destroyed }) => destroyed));
  expect(await callAt("/late", never)).toMatchObject([{ status: 200 }, { status: 200 }]);
  expect(received.toSorted()).toEqual(["DELETE /late", "POST /late"]);
  expect(reads).toEqual(["/late"]);
});

test("sendOnce gives up a publishing call that still waits for its connection, and nothing of it reaches the platform later", async () => {
  let received = 0;
  const { port } = await listenWithHttp2((_request, response) => {
    received += 1;
    response.end("{}");
  });
  const platform = await holdBack(port);
  const url = `https://localhost:${platform.port}/posts`;

  expect(
    await sendOnce({ method: "POST", url, body: jsonBody({}) }, { ...guard, timeoutMs: 1 }),
  ).toMatchObject({ kind: "not_connected" });

  const [socket] = platform.held;
  const closed = socket === undefined ? Promise.resolve() : once(socket, "close");
  platform.release();
  await closed;
  expect(received).toBe(0);
});

test("sendOnce never sends a publishing call a second time when the platform refuses its HTTP/2 stream", async () => {
  const received: string[] = [];
  const { server, port } = await listenWithHttp2((request, response) => {
    received.push(request.httpVersion);
    if (request.httpVersion === "1.1") response.end("{}");
  });
  // The platform acts on the request and then says that it did not.
  server.on("stream", (stream: ServerHttp2Stream) =>
    setImmediate(() => stream.close(constants.NGHTTP2_REFUSED_STREAM)),
  );

  const url = `https://localhost:${port}/posts`;
  const answer = await sendOnce({ method: "POST", url, body: jsonBody({}) }, guard);

  expect(received).toEqual(["1.1"]);
  expect(answer).toMatchObject({ status: 200 });
});
