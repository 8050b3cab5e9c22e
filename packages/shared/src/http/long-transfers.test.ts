import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { setInterval as everyMs } from "node:timers/promises";
import { expect, test } from "vitest";
import { createServiceServer } from "#src/connect/server.ts";
import { createLogger } from "#src/telemetry/logger.ts";
import { createTestIdentities } from "#src/testing/identities.ts";
import { eventually } from "#src/testing/poll.ts";
import { watchDownload, watchUpload } from "./long-transfers.ts";

const RATE = { bytesPerSecond: 1_000, stallMs: 300 };
/**
 * A minimum rate for tests in which no client may be disconnected. It allows pauses of 20 s, so
 * that clients also keep to it on a loaded machine.
 */
const PATIENT_RATE = { bytesPerSecond: 1_000, stallMs: 20_000 };

async function listen(listener: RequestListener) {
  const server = createServer(listener);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    port,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test("an upload to a service may take longer than the service's limit on the duration of a request", async () => {
  const app = await createServiceServer({
    routes: () => undefined,
    access: createTestIdentities().accessOf("media"),
    logger: createLogger({ service: "test", level: "silent" }),
    maxRequestMs: 100,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", (_request, _body, parsed) => parsed(null));
  app.put("/upload", async (request, reply) => {
    watchUpload(request.raw, reply.raw, PATIENT_RATE);
    let bytes = 0;
    for await (const chunk of request.raw) bytes += (chunk as Buffer).length;
    return { bytes };
  });
  await app.listen({ host: "127.0.0.1", port: 0 });
  const socket = connect((app.server.address() as AddressInfo).port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => (answer += String(chunk)));
  const startedAt = performance.now();
  socket.write(
    "PUT /upload HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4000\r\n\r\n",
  );
  let sent = 0;
  for await (const _ of everyMs(10)) {
    socket.write(Buffer.alloc(40));
    if ((sent += 40) === 4_000) break;
  }
  await once(socket, "close");
  expect(answer).toMatch(/^HTTP\/1\.1 200 .*\{"bytes":4000\}$/s);
  expect(performance.now() - startedAt).toBeGreaterThan(500);
  await app.close();
});

test("a connection whose upload stops arriving is closed", async () => {
  const closed = Promise.withResolvers<boolean>();
  await using server = await listen((request, response) => {
    watchUpload(request, response, RATE);
    request.resume().once("close", () => closed.resolve(request.complete));
  });
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 99\r\n\r\nabc");
  expect(await closed.promise).toBe(false);
});

test.each([
  ["reads nothing", false, RATE],
  ["reads as fast as it can", true, PATIENT_RATE],
])("a download of 64 MB, whose client %s, is completed: %j", async (_, isRead, rate) => {
  const ended = Promise.withResolvers<boolean>();
  await using server = await listen((_request, response) => {
    watchDownload(response, rate);
    response.once("close", () => ended.resolve(response.writableFinished));
    response.end(Buffer.alloc(64 * 1024 * 1024));
  });
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  if (isRead) socket.resume();
  expect(await ended.promise).toBe(isRead);
  socket.destroy();
});

test("a download whose source pauses stays open", async () => {
  const mayEnd = Promise.withResolvers<void>();
  await using server = await listen((_request, response) => {
    watchDownload(response, RATE);
    response.write("first");
    void mayEnd.promise.then(() => response.end("last"));
  });
  const socket = connect(server.port, "127.0.0.1");
  let answer = "";
  socket.on("data", (chunk) => (answer += String(chunk)));
  socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const startedAt = performance.now();
  await eventually(() => performance.now() - startedAt > 3 * RATE.stallMs);
  mayEnd.resolve();
  await once(socket, "close");
  expect(answer).toContain("last");
});
