import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { openTenant, type Tenant } from "../requests/tenant.ts";
import { announce, printFigures } from "../system/figures.ts";
import type { FaultStack } from "./fault-stack.ts";
import { listTimelines, summarize } from "./timelines.ts";

const {
  POSTRIDER_E2E_RECOVERY_SECONDS: LONG_SECONDS,
  POSTRIDER_E2E_RECOVERY_RATE: RATE = "40",
  POSTRIDER_E2E_RECOVERY_KILL_SECONDS: KILL_SECONDS = "5",
  POSTRIDER_E2E_RECOVERY_SERVICES: SERVICES = "delivery,delivery,posts",
} = process.env;
/** By default two kills are made; `npm run recovery` makes them for longer. */
const LOAD =
  LONG_SECONDS === undefined
    ? { seconds: 10, postsPerSecond: 1 }
    : { seconds: Number(LONG_SECONDS), postsPerSecond: Number(RATE) / 3 };
const KILL_EVERY_MS = Number(KILL_SECONDS) * 1_000;
/** The services of which one process is killed in turn. */
const KILLED = SERVICES.split(",") as readonly ServiceName[];
/** Platforms on which a post whose answer was lost can be read back. */
const PLATFORMS = ["x", "bluesky", "facebook"];
const ACCOUNTS = 40;
/** Maximum time from the last kill until everything is published, on a machine that other work loads. */
const SETTLE_MS = 600_000;
const TIMEOUT_MS = LOAD.seconds * 1_000 + SETTLE_MS + 120_000;

/** Creates posts at a constant rate, each on one account per platform, and repeats requests that got no answer. */
async function createPosts({ api }: Tenant, accounts: readonly (readonly string[])[]) {
  const startedAt = performance.now();
  const count = Math.round(LOAD.seconds * LOAD.postsPerSecond);
  const posts: Promise<unknown>[] = [];
  for (let index = 0; index < count; index += 1) {
    await sleep(Math.max(0, startedAt + (index * 1_000) / LOAD.postsPerSecond - performance.now()));
    const accountIds = accounts.map((ids) => ids[index % ids.length] ?? "");
    posts.push(api.createPost(`recovery ${index}`, accountIds));
  }
  await Promise.all(posts);
  return count;
}

/** Kills one process of the services `KILLED` after the other. Returns the number of kills, and when the last one was made. */
async function killInTurn({ system }: FaultStack, ended: AbortSignal) {
  let kills = 0;
  let lastAt = Date.now();
  while (!ended.aborted) {
    await sleep(KILL_EVERY_MS, undefined, { signal: ended }).catch(() => undefined);
    if (ended.aborted) break;
    const pids = system.pids(KILLED[kills % KILLED.length] ?? "delivery");
    const pid = pids[kills % pids.length];
    if (pid === undefined) continue;
    process.kill(pid, "SIGKILL");
    kills += 1;
    lastAt = Date.now();
  }
  return { kills, lastAt };
}

/** Tests that all targets are published once while processes are killed, and shows how long the last one took. */
export function testRecovery(stack: () => FaultStack): void {
  test(
    "all targets are published once while one process after another is killed",
    async () => {
      const { bus, system } = stack();
      const tenant = await openTenant(system, ["--monthly-quota", "1000000"]);
      const accounts = await Promise.all(
        PLATFORMS.map((platform) => tenant.connectAll(platform, ACCOUNTS)),
      );
      // The kills end with the load, and not with the last answer: a machine that starts processes more slowly than they are killed
      // would never answer.
      const [count, { kills, lastAt }] = await Promise.all([
        createPosts(tenant, accounts),
        killInTurn(stack(), AbortSignal.timeout(LOAD.seconds * 1_000)),
      ]);
      announce(`recovery, ${bus}: ${count * PLATFORMS.length} targets, ${kills} kills`);
      await eventually(
        async () => {
          const [row] = await system.sql<{ open: number }[]>`
            select count(*)::int as open
            from posts.targets
            where workspace_id = ${tenant.id}
            and status <> 'published'`;
          expect(row).toEqual({ open: 0 });
        },
        { timeoutMs: SETTLE_MS },
      );
      const timelines = await listTimelines(system, tenant.id);
      printFigures(`recovery, ${bus}`, summarize(timelines, lastAt));
      const visible = await tenant.listVisible();
      const texts = visible.map(({ platform, text }) => `${platform} ${text}`);
      expect(texts).toHaveLength(count * PLATFORMS.length);
      expect(new Set(texts).size).toBe(texts.length);
    },
    TIMEOUT_MS,
  );
}
