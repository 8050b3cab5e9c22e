import { setTimeout as sleep } from "node:timers/promises";
import type { BenchSystem } from "./system.ts";

const POSTS_PER_SECOND = 10;
const GIVE_UP_MS = 60_000;

/** Returns in milliseconds after how long each post became visible. */
async function listDelays(
  { local }: BenchSystem,
  startedAt: ReadonlyMap<string, number>,
): Promise<readonly number[]> {
  const url = `${local.simulatorUrl}/_control/visible?platform=bluesky&limit=100000`;
  const entries = (await (await fetch(url)).json()) as { text: string; createdAt: string }[];
  return entries.flatMap(({ text, createdAt }) => {
    const started = startedAt.get(text);
    return started === undefined ? [] : [Date.parse(createdAt) - started];
  });
}

/**
 * Publishes 10 posts per second on the given accounts of Bluesky. Returns the time in milliseconds from the request for each
 * post until readers see it.
 */
export async function measurePublishing(
  system: BenchSystem,
  accountIds: readonly string[],
  { label, seconds }: { readonly label: string; readonly seconds: number },
): Promise<readonly number[]> {
  const startedAt = new Map<string, number>();
  const requests: Promise<unknown>[] = [];
  const beganAt = performance.now();
  for (let index = 0; index < POSTS_PER_SECOND * seconds; index += 1) {
    await sleep(Math.max(0, beganAt + (index * 1000) / POSTS_PER_SECOND - performance.now()));
    const content = `${label} ${index}`;
    startedAt.set(content, Date.now());
    const body = { content, accountIds: [accountIds[index % accountIds.length]] };
    requests.push(system.call("POST", "/posts", body));
  }
  await Promise.all(requests);
  const endsAt = performance.now() + GIVE_UP_MS;
  let delays = await listDelays(system, startedAt);
  while (delays.length < startedAt.size && performance.now() < endsAt) {
    await sleep(200);
    delays = await listDelays(system, startedAt);
  }
  if (delays.length < startedAt.size)
    throw new Error(`${delays.length} of ${startedAt.size} posts are visible`);
  return delays;
}
