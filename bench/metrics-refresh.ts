/**
 * Measures how much scheduled refreshes of metrics delay publishing: the time from the request for a post until readers see
 * it, alone and while the metrics of 100,000 published targets are due. The delivery service runs in two processes, one for
 * publishing and one for engagement. Also prints the calls per platform beside its budget. Prints Markdown tables.
 * `node bench/metrics-refresh.ts [seconds] [due targets]`
 */
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "@postrider/shared/config";
import postgres from "postgres";
import { createMetricsConnectors } from "../packages/platforms/src/metrics/registry.ts";
import { readPublishingSettings } from "../packages/platforms/src/publishing/settings.ts";
import { toBucket } from "../services/delivery/src/engagement/domain/call-budget.ts";
import { get, readCounters } from "./cost-counters.ts";
import { insertDueTargets } from "./due-targets.ts";
import { percentile } from "./measure.ts";
import { measurePublishing } from "./publishing-delays.ts";
import { startBenchSystem } from "./system.ts";

const SECONDS = Number(process.argv[2] ?? 60);
const DUE_TARGETS = Number(process.argv[3] ?? 100_000);
const ACCOUNTS = 20;
/** Number of accounts per platform whose posts have due metrics. */
const DUE_ACCOUNTS = 200;
const SETTLE_MS = 2_000;
const PHASE_SECONDS = 10;
const PLATFORMS = ["bluesky", "facebook", "x"] as const;

await using system = await startBenchSystem(
  "postgres",
  {},
  {
    replicas: 2,
    replica: (service, index) =>
      service === "delivery" ? { env: { ROLE: index === 0 ? "publishing" : "engagement" } } : {},
  },
);
const { local } = system;
const sql = postgres(local.databaseUrl, { onnotice: () => undefined, max: 1 });
const accountIds = await system.connect("bluesky", ACCOUNTS);

const publishFor = (label: string, seconds: number) =>
  measurePublishing(system, accountIds, { label, seconds });

/** Returns how many scheduled calls all processes have made to each platform so far. */
async function readCalls(): Promise<ReadonlyMap<string, number>> {
  const calls = new Map<string, number>();
  for (const { metricsUrl } of local.services.delivery ?? []) {
    const text = await (await fetch(`${metricsUrl}/metrics`)).text();
    for (const [, labels = "", value] of text.matchAll(
      /^target_metrics_calls_total\{(.*)\} (\d+)$/gm,
    )) {
      const platform = /platform="(\w+)"/.exec(labels)?.[1];
      if (platform !== undefined && labels.includes('trigger="schedule"'))
        calls.set(platform, (calls.get(platform) ?? 0) + Number(value));
    }
  }
  return calls;
}

/** Counts the targets by platform whose metrics the posts service shows. */
async function countRefreshed(): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ platform: string; count: number }[]>`
    select platform, count(*)::int as count
    from posts.targets
    where metrics_refreshed_at is not null
    group by platform`;
  return new Map(rows.map(({ platform, count }) => [platform, count]));
}

const sumOf = (counts: ReadonlyMap<string, number>) =>
  counts.values().reduce((sum, count) => sum + count, 0);

/** Stops metrics refreshes of all accounts, or lets them continue. */
async function holdMetrics(isHeld: boolean): Promise<void> {
  await sql`
    update delivery.metrics_accounts
    set limited_until = ${isHeld ? "infinity" : "-infinity"}::text::timestamptz`;
}

interface Phase {
  readonly delays: readonly number[];
  /** CPU time in milliseconds of the posts service, the delivery service and Postgres. */
  readonly cpuMs: readonly number[];
  readonly refreshed: number;
  readonly seconds: number;
}

async function measurePhase(label: string): Promise<Phase> {
  const [before, refreshedBefore] = [await readCounters(local, sql), sumOf(await countRefreshed())];
  const startedAt = performance.now();
  const delays = await publishFor(label, PHASE_SECONDS);
  const seconds = (performance.now() - startedAt) / 1000;
  const after = await readCounters(local, sql);
  const refreshed = sumOf(await countRefreshed()) - refreshedBefore;
  const cpuMs = ["posts", "delivery", "postgres"].map(
    (name) => get(after, `cpu/${name}`) - get(before, `cpu/${name}`),
  );
  return { delays, cpuMs, refreshed, seconds };
}

function join(phases: readonly Phase[]): Phase {
  return phases.reduce((a, b) => ({
    delays: [...a.delays, ...b.delays],
    cpuMs: a.cpuMs.map((ms, index) => ms + (b.cpuMs[index] ?? 0)),
    refreshed: a.refreshed + b.refreshed,
    seconds: a.seconds + b.seconds,
  }));
}

const callsBefore = await readCalls();
const dueAt = performance.now();
const dueTargets = await insertDueTargets(system, sql, {
  platforms: PLATFORMS,
  accountsPerPlatform: DUE_ACCOUNTS,
  targets: DUE_TARGETS,
});
// Phases with and without metrics refreshes alternate, because other work on the machine and growing tables change the delays.
const alone: Phase[] = [];
const beside: Phase[] = [];
// The first pair of phases is a warm-up, whose figures are left out.
for (let round = 0; round <= Math.ceil(SECONDS / PHASE_SECONDS); round += 1) {
  await holdMetrics(true);
  await sleep(SETTLE_MS);
  const held = await measurePhase(`alone ${round}`);
  await holdMetrics(false);
  await sleep(SETTLE_MS);
  const refreshing = await measurePhase(`beside ${round}`);
  if (round === 0) continue;
  alone.push(held);
  beside.push(refreshing);
}
const [calls, refreshedBy] = [await readCalls(), await countRefreshed()];
const dueMs = performance.now() - dueAt;
const quiet = join(alone);
const quietP99 = percentile(quiet.delays, 0.99);

const toRow = (name: string, { delays, cpuMs, refreshed, seconds }: Phase) => {
  const [p50, p99] = [percentile(delays, 0.5), percentile(delays, 0.99)];
  const used = cpuMs.map((ms) => Math.round(ms / seconds)).join(" / ");
  return `| ${name} | ${Math.round(refreshed / seconds)} | ${p50} / ${p99} | ${(p99 / quietP99).toFixed(2)} | ${used} |`;
};
const connectors = Object.values(
  createMetricsConnectors(loadConfig({}, (read) => readPublishingSettings(read, { allow: [] }))),
);
const budgetRows = connectors.flatMap((connector) => {
  const { platform, budget, maxPosts } = connector;
  const due = dueTargets.get(platform);
  if (due === undefined) return [];
  const made = (calls.get(platform) ?? 0) - (callsBefore.get(platform) ?? 0);
  const { burst, intervalMs, isPerPost } = toBucket(connector);
  const buckets = budget.scope === "app" ? 1 : DUE_ACCOUNTS;
  const allowed = Math.floor(buckets * (burst + dueMs / intervalMs));
  const minutes = budget.windowMs / 60_000;
  return [
    `| ${platform} | ${due} | ${budget.calls} ${isPerPost ? "posts" : "calls"} per ${minutes} min and ${budget.scope} | ${maxPosts} | ${made} | ${refreshedBy.get(platform) ?? 0} | ${allowed} ${isPerPost ? "posts" : "calls"} |`,
  ];
});
await sql.end();
process.stdout.write(`
| metrics | refreshed per second | accepted to visible, p50 / p99 ms | p99 ratio | CPU ms per s: posts / delivery / Postgres |
|---|---|---|---|---|
${toRow("held", quiet)}
${toRow(`${DUE_TARGETS} targets due`, join(beside))}

| platform | due targets | budget | posts per call, at most | calls in ${Math.round(dueMs / 1000)} s | posts refreshed | allowed |
|---|---|---|---|---|---|---|
${budgetRows.join("\n")}
`);
process.exit(0);
