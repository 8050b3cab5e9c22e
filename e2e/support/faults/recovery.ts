import { setTimeout as sleep } from "node:timers/promises";
import type { ServiceName } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { openTenant, type Tenant } from "../requests/tenant.ts";
import { announce, printFigures } from "../system/figures.ts";
import type { System } from "../system/system.ts";
import type { FaultStack } from "./fault-stack.ts";

/** One try of a target; times in seconds after the target was due. */
interface AttemptTimes {
  readonly startedAt: number;
  readonly calledAt: number | null;
  readonly callUntil: number | null;
  readonly finishedAt: number | null;
  readonly outcome: string | null;
}

/** What happened to a target; times in seconds after it was due. */
interface Timeline {
  readonly platform: string;
  readonly dueMs: number;
  /** When delivery knew of the target. */
  readonly requestedAt: number;
  readonly publishedAt: number;
  readonly claims: number;
  readonly calls: number;
  readonly unknowns: number;
  readonly looks: number;
  readonly resends: number;
  readonly attempts: readonly AttemptTimes[];
}

/** Reads the timelines of the published targets of a workspace. */
async function listTimelines(
  { sql }: Pick<System, "sql">,
  workspaceId: string,
): Promise<readonly Timeline[]> {
  return await sql<Timeline[]>`
    select t.platform,
      extract(epoch from t.due_at)::float8 * 1000 as "dueMs",
      extract(epoch from t.created_at - t.due_at)::float8 as "requestedAt",
      extract(epoch from t.published_at - t.due_at)::float8 as "publishedAt",
      t.fence::int as claims,
      t.call_number as calls,
      t.unknown_count as unknowns,
      t.looks,
      t.resend_count as resends,
      (
        select jsonb_agg(jsonb_build_object(
          'startedAt', extract(epoch from a.started_at - t.due_at),
          'calledAt', extract(epoch from a.called_at - t.due_at),
          'callUntil', extract(epoch from a.call_until - t.due_at),
          'finishedAt', extract(epoch from a.finished_at - t.due_at),
          'outcome', a.outcome
        ) order by a.number)
        from delivery.publish_attempts a
        where a.target_id = t.target_id
      ) as attempts
    from delivery.publish_tasks t
    where t.workspace_id = ${workspaceId}
    and t.status = 'published'`;
}

function quantiles(values: readonly number[]) {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10;
  return { p50: at(0.5), p90: at(0.9), p99: at(0.99), max: at(1) };
}

/**
 * Seconds of the parts of each timeline, so that the part shows on which targets waited longest.
 */
function partsOf({ requestedAt, publishedAt, attempts }: Timeline) {
  const first = attempts[0];
  const lost = attempts.filter(({ outcome }) => outcome === "unknown");
  const last = attempts.at(-1);
  return {
    request: requestedAt,
    claim: first === undefined ? 0 : first.startedAt - requestedAt,
    work: last === undefined ? 0 : (last.calledAt ?? last.startedAt) - last.startedAt,
    deadline: Math.max(
      0,
      ...lost.map(({ calledAt, callUntil }) => (callUntil ?? 0) - (calledAt ?? callUntil ?? 0)),
    ),
    afterDeadline:
      lost.length === 0 ? 0 : publishedAt - Math.max(...lost.map((each) => each.callUntil ?? 0)),
  };
}

/** Sums up the timelines, with those of the targets that were published last. */
function summarize(timelines: readonly Timeline[], lastKillMs: number) {
  const endMs = ({ dueMs, publishedAt }: Timeline) => dueMs + publishedAt * 1_000;
  const parts = timelines.map(partsOf);
  const lastMs = Math.max(...timelines.map(endMs));
  const latest = timelines.toSorted((a, b) => endMs(b) - endMs(a)).slice(0, 20);
  return {
    lastAfterKillSeconds: Math.round((lastMs - lastKillMs) / 100) / 10,
    publishedAfter: quantiles(timelines.map(({ publishedAt }) => publishedAt)),
    request: quantiles(parts.map(({ request }) => request)),
    claim: quantiles(parts.map(({ claim }) => claim)),
    work: quantiles(parts.map(({ work }) => work)),
    deadline: quantiles(parts.map(({ deadline }) => deadline)),
    afterDeadline: quantiles(parts.map(({ afterDeadline }) => afterDeadline)),
    latest: latest.map((timeline) => ({
      ...timeline,
      afterKill: Math.round((endMs(timeline) - lastKillMs) / 100) / 10,
    })),
  };
}

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
/** Per platform; more than that many posts are created by the long run only. */
const ACCOUNTS = LONG_SECONDS === undefined ? 10 : 40;
/**
 * Maximum time from the last kill until everything is published, on a machine that other work
 * loads.
 */
const SETTLE_MS = 600_000;
const TIMEOUT_MS = LOAD.seconds * 1_000 + SETTLE_MS + 120_000;

/**
 * Creates posts at a constant rate, each on one account per platform, and repeats requests that got
 * no answer.
 */
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

/**
 * Kills one process of the services `KILLED` after the other. Returns the number of kills, and when
 * the last one was made.
 */
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

/**
 * Tests that all targets are published once while processes are killed, and shows how long the last
 * one took.
 */
export function testRecovery(stack: () => FaultStack): void {
  test(
    "all targets are published once while one process after another is killed",
    async () => {
      const { bus, system } = stack();
      const tenant = await openTenant(system, ["--monthly-quota", "1000000"]);
      const accounts = await Promise.all(
        PLATFORMS.map((platform) => tenant.connectAll(platform, ACCOUNTS)),
      );
      // The kills end with the load, and not with the last answer: a machine that starts processes
      // more slowly than they are killed would never answer.
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
