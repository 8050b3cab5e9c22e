import { afterAll, beforeAll, expect, test } from "vitest";
import { tell } from "./support/figures.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant } from "./support/tenant.ts";

const PER_MINUTE = 600;
const AT_ONCE = 32;
/** How long everybody goes on to ask for more when the burst is spent. */
const SPELL_MS = 6_000;
const UNDER = 0.01;

let system: System;
beforeAll(async () => {
  system = await startSystem("postgres", { replicas: 2 });
});
afterAll(() => system[Symbol.asyncDispose]());

/** Asks both gateways as fast as they answer, for so long after the first refusal, and counts the answers by status. */
async function ask(key: string, goOnMs: number) {
  const urls = system.local().services.gateway.map(({ url }) => url);
  const headers = { authorization: `Bearer ${key}` };
  const counts = new Map<number, number>();
  const startedAt = performance.now();
  let firstAt = Number.POSITIVE_INFINITY;
  let untilAt = Number.POSITIVE_INFINITY;
  const client = async (index: number): Promise<void> => {
    while (performance.now() < untilAt) {
      // Answered by the gateway alone: nothing but the budget decides how many get through.
      const url = `${urls[index % urls.length] ?? ""}/api/v1/nothing-here`;
      const { status } = await fetch(url, { headers });
      firstAt = Math.min(firstAt, performance.now());
      if (status === 429) untilAt = Math.min(untilAt, performance.now() + goOnMs);
      counts.set(status, (counts.get(status) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, (_, index) => client(index)));
  const endedAt = performance.now();
  return { counts, mostMs: endedAt - startedAt, leastMs: untilAt - firstAt };
}

test("two gateways together never let more through than the workspace's budget, and at most 1 % less", async () => {
  const tenant = await openTenant(system, [], PER_MINUTE);
  const { counts, mostMs, leastMs } = await ask(tenant.key, SPELL_MS);
  const budget = (ms: number): number => PER_MINUTE + (PER_MINUTE * ms) / 60_000;
  // Refused ones show that more was asked for than there was, on both.
  expect([...counts.keys()].toSorted((a, b) => a - b)).toEqual([404, 429]);
  const admitted = counts.get(404) ?? 0;
  const refused = counts.get(429);
  tell("request budget", { admitted, refused, most: budget(mostMs), least: budget(leastMs) });
  expect(admitted).toBeLessThanOrEqual(budget(mostMs));
  expect(admitted).toBeGreaterThanOrEqual(budget(leastMs) * (1 - UNDER));
});
