import { afterEach, beforeEach, expect, test, vi } from "vitest";

vi.stubGlobal("location", { origin: "http://localhost" });
const { appApi } = await import("./app-api.ts");

/** The methods of the requests that were sent. */
let sent: string[];

/** The server refuses the first requests, and then answers. */
function refuseFirst(count: number, headers: Readonly<Record<string, string>>, status = 503): void {
  const error = { error: { code: "unavailable", message: "The service cannot answer right now." } };
  const answer: typeof fetch = (_input, { method = "" } = {}) => {
    sent.push(method);
    return Promise.resolve(
      sent.length > count
        ? new Response('{"isDone":true}')
        : new Response(JSON.stringify(error), { status, headers }),
    );
  };
  vi.stubGlobal("fetch", answer);
}

/** Advances the timers until the call ends; returns its result or error. */
async function settle(call: Promise<unknown>): Promise<unknown> {
  const result = call.catch((error: unknown) => error);
  await vi.runAllTimersAsync();
  return await result;
}

beforeEach(() => {
  sent = [];
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

const REFUSED_AT_ONCE = { "retry-after": "1", "x-postrider-carried-out": "no" };

test.each(["POST", "PUT", "DELETE"] as const)(
  "a %s of which an overloaded server did nothing is sent again until it is done",
  async (method) => {
    refuseFirst(4, REFUSED_AT_ONCE);
    expect(await settle(appApi(method, "/keys"))).toEqual({ isDone: true });
    expect(sent).toEqual(Array.from({ length: 5 }, () => method));
  },
);

test("a write that a rate limit refused is sent again", async () => {
  refuseFirst(1, { "retry-after": "1" }, 429);
  expect(await settle(appApi("DELETE", "/keys"))).toEqual({ isDone: true });
  expect(sent).toEqual(["DELETE", "DELETE"]);
});

test.each([
  ["may have been carried out", "DELETE", { "retry-after": "1" }],
  ["asks for a long wait", "DELETE", { ...REFUSED_AT_ONCE, "retry-after": "30" }],
  ["is a read, which is repeated by what waits for it", "GET", REFUSED_AT_ONCE],
] as const)("a request that %s is sent once", async (_what, method, headers) => {
  refuseFirst(1, headers);
  expect(await settle(appApi(method, "/keys"))).toMatchObject({ code: "unavailable" });
  expect(sent).toEqual([method]);
});

test("a write is given up after four repetitions", async () => {
  refuseFirst(9, REFUSED_AT_ONCE);
  expect(await settle(appApi("DELETE", "/keys"))).toMatchObject({ isNotCarriedOut: true });
  expect(sent).toHaveLength(5);
});
