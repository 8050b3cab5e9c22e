import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { jsonBody } from "#src/http/platform-request.ts";
import { createSendGuard, sendOnce } from "#src/http/send-once.ts";

let server: Server | undefined;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function listen(
  answer: (received: number, end: (status: number, body: string) => void, cut: () => void) => void,
): Promise<{ url: string; received: () => number }> {
  let received = 0;
  server = createServer((request, response) => {
    received += 1;
    request.resume();
    answer(
      received,
      (status, body) => response.writeHead(status).end(body),
      () => request.socket.destroy(),
    );
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, "127.0.0.1", resolve);
  await promise;
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/post`,
    received: () => received,
  };
}

const guard = { mayStillSend: () => true, timeoutMs: 2000 };

test("sendOnce returns answers of any HTTP status, and leaves `json` undefined if the body is not JSON", async () => {
  const { url } = await listen((count, end) =>
    end(count === 1 ? 403 : 200, count === 1 ? '{"title":"Forbidden"}' : "<html>"),
  );
  expect(await sendOnce({ method: "POST", url, body: jsonBody({}) }, guard)).toMatchObject({
    kind: "answer",
    status: 403,
    json: { title: "Forbidden" },
  });
  expect(await sendOnce({ method: "POST", url, body: jsonBody({}) }, guard)).toMatchObject({
    kind: "answer",
    status: 200,
    json: undefined,
  });
});

test("sendOnce sends no request when `mayStillSend` returns false", async () => {
  const { url, received } = await listen((_count, end) => end(200, "{}"));
  expect(
    await sendOnce(
      { method: "POST", url, body: jsonBody({}) },
      { ...guard, mayStillSend: () => false },
    ),
  ).toEqual({ kind: "not_sent" });
  expect(received()).toBe(0);
});

test("sendOnce reports `not_connected` when the connection is refused", async () => {
  expect(
    await sendOnce({ method: "POST", url: "http://127.0.0.1:1/post", body: jsonBody({}) }, guard),
  ).toMatchObject({ kind: "not_connected" });
});

test("sendOnce reports `no_answer` and does not repeat the request when the connection breaks after the request", async () => {
  const { url, received } = await listen((_count, _end, cut) => cut());
  expect(await sendOnce({ method: "POST", url, body: jsonBody({}) }, guard)).toMatchObject({
    kind: "no_answer",
  });
  expect(received()).toBe(1);
});

test("sendOnce uses a connection for one call only, and closes it although the host would keep it", async () => {
  const { url } = await listen((_count, end) => end(200, "{}"));
  const closed: Promise<unknown>[] = [];
  server?.on("connection", (socket) => closed.push(once(socket, "close")));

  await sendOnce({ method: "POST", url, body: jsonBody({}) }, guard);
  await sendOnce({ method: "POST", url, body: jsonBody({}) }, guard);

  expect(await Promise.all(closed)).toHaveLength(2);
});

test("sendOnce reports `no_answer` when the host does not answer before the deadline", async () => {
  const { url, received } = await listen(() => undefined);
  expect(
    await sendOnce({ method: "POST", url, body: jsonBody({}) }, { ...guard, timeoutMs: 60 }),
  ).toMatchObject({ kind: "no_answer" });
  expect(received()).toBe(1);
});

function clocksAt() {
  const now = { monotonic: 1_000, wall: 2_000 };
  return { now, clocks: { monotonic: () => now.monotonic, wall: () => now.wall } };
}

test("a publishing call may be sent within a twelfth of its maximum duration, at most 5 s, after its worker asked to record the start", () => {
  const { now, clocks } = clocksAt();
  const short = createSendGuard(clocks, 6_000);
  const long = createSendGuard(clocks, 600_000);

  now.monotonic += 499;
  expect([short.mayStillSend(), long.mayStillSend()]).toEqual([true, true]);
  now.monotonic += 1;
  expect([short.mayStillSend(), long.mayStillSend()]).toEqual([false, true]);
  now.monotonic += 4_499;
  expect(long.mayStillSend()).toBe(true);
  now.monotonic += 1;
  expect(long.mayStillSend()).toBe(false);
});

test.each([60_000, -60_000])(
  "a publishing call is not sent when the wall clock jumps by %i ms before the call",
  (ms) => {
    const { now, clocks } = clocksAt();
    const guard = createSendGuard(clocks, 60_000);

    now.wall += ms;

    expect(guard.mayStillSend()).toBe(false);
  },
);

test("the deadline of a publishing call is shortened by the time that passes before its first byte", () => {
  const { now, clocks } = clocksAt();
  const guard = createSendGuard(clocks, 60_000);

  now.monotonic += 4_000;

  expect(guard.timeoutMs).toBe(56_000);
});
