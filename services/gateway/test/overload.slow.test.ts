import { setImmediate as nextTurn } from "node:timers/promises";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, expect, test } from "vitest";
import { createTestServer } from "./fixture.ts";

const app = await createTestServer({ maxLoopDelayMs: 250 });
const url = await app.listen({ host: "127.0.0.1", port: 0 });
afterAll(() => app.close());

/** Blocks the event loop of this process for `ms` milliseconds. */
function block(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

const get = (path: string) => fetch(url + path);

/** Delays every turn of the event loop until the result is disposed of. */
function hog(): AsyncDisposable {
  const stop = new AbortController();
  const work = async () => {
    while (!stop.signal.aborted) {
      block(400);
      await nextTurn();
    }
  };
  const finished = work();
  return {
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await finished;
    },
  };
}

test("an overloaded gateway refuses new requests immediately, answers health probes and sends the page of the dashboard, and recovers by itself", async () => {
  {
    await using _load = hog();
    const answer = await eventually(async () => {
      const response = await get("/nothing");
      return response.status === 503 && response;
    });
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(answer.headers.get("x-postrider-carried-out")).toBe("no");
    expect(await answer.json()).toMatchObject({ error: { code: "unavailable" } });
    expect((await get("/livez")).status).toBe(200);
    expect((await get("/app/posts")).headers.get("content-type")).toContain("text/html");
  }
  await eventually(async () => (await get("/nothing")).status === 404);
});

test("a single long delay of the event loop does not make the gateway refuse requests", async () => {
  block(1500);
  expect((await get("/nothing")).status).toBe(404);
});
