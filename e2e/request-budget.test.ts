import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { openTenant } from "./support/requests/tenant.ts";
import { printFigures } from "./support/system/figures.ts";
import { useSharedSystem } from "./support/system/system.ts";

const PER_MINUTE = 600;
/** Number of requests in flight, over both gateways. */
const CLIENTS = 8;
/**
 * How long a client waits after a refusal, in ms. All clients together still send far more than the
 * rate limit.
 */
const PAUSE_MS = 50;
/**
 * How long all clients continue to send requests after the gateway has refused a request for the
 * first time, in milliseconds.
 */
const SPELL_MS = 3_000;
/** Maximum fraction of the requests allowed by the rate limit that may stay unused. */
const MAX_UNUSED_SHARE = 0.05;

const system = await useSharedSystem();

/**
 * Sends requests to both gateways as fast as they answer until one is refused, then more slowly,
 * and continues for `goOnMs` after the first refusal. Returns the number of answers by status.
 */
async function sendRequests(key: string, goOnMs: number) {
  const urls = system.local().services.gateway.map(({ url }) => url);
  const headers = { authorization: `Bearer ${key}` };
  const counts = new Map<number, number>();
  const refusals: Response[] = [];
  const startedAt = performance.now();
  let firstAt = Number.POSITIVE_INFINITY;
  let untilAt = Number.POSITIVE_INFINITY;
  const client = async (index: number): Promise<void> => {
    while (performance.now() < untilAt) {
      // The gateway answers this path without another service, so only the rate limit of the
      // workspace decides how many requests succeed.
      const url = `${urls[index % urls.length] ?? ""}/api/v1/nothing-here`;
      const answer = await fetch(url, { headers });
      const { status } = answer;
      firstAt = Math.min(firstAt, performance.now());
      if (status === 429) {
        refusals.push(answer);
        untilAt = Math.min(untilAt, performance.now() + goOnMs);
      }
      counts.set(status, (counts.get(status) ?? 0) + 1);
      await answer.arrayBuffer();
      if (status === 429) await sleep(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  const endedAt = performance.now();
  return { counts, refusals, longestMs: endedAt - startedAt, shortestMs: untilAt - firstAt };
}

test("two gateways together admit 95 to 100 % of the requests that a workspace's rate limit allows when clients send more", async () => {
  const tenant = await openTenant(system, [], PER_MINUTE);
  const { counts, refusals, longestMs, shortestMs } = await sendRequests(tenant.key, SPELL_MS);
  const budget = (ms: number): number => PER_MINUTE + (PER_MINUTE * ms) / 60_000;
  // Refusals show that the clients sent more requests than the rate limit allows.
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual([404, 429]);
  const admitted = counts.get(404) ?? 0;
  const [most, least] = [budget(longestMs), budget(shortestMs)];
  printFigures("request budget", { admitted, refused: refusals.length, most, least });
  expect(admitted).toBeLessThanOrEqual(most);
  expect(admitted).toBeGreaterThanOrEqual(least * (1 - MAX_UNUSED_SHARE));
  for (const { headers } of refusals.slice(0, 1)) {
    expect(Number(headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    expect(headers.get("ratelimit-policy")).toContain(`q=${PER_MINUTE}`);
  }
});
