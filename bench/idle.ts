/**
 * Measures a system without any request: CPU time, wake-ups and memory of every process, the
 * statements that each sends to Postgres, and what the start of a service costs.
 * `node bench/idle.ts [seconds]` prints Markdown tables. CPU time, wake-ups and statements depend
 * little on the load of the machine, the time until a service is ready depends on it.
 */
import { globSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { LocalService } from "@postrider/local/stack/local-file";
import postgres from "postgres";
import { megabytesOf, percentile, TICKS_PER_SECOND } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const SECONDS = Number(process.argv[2] ?? 20);
/** How long the processes of a new system still compile code and fill caches. */
const SETTLE_MS = 15_000;
const STARTS = 3;
const SERVICES = ["gateway", "accounts", "posts", "media", "delivery"] as const;

interface Use {
  readonly cpuMs: number;
  readonly wakeUps: number;
}

/** What all threads of the processes have used so far, by the kernel's scheduler. */
function useOf(pids: readonly number[]): Use {
  let [cpuMs, wakeUps] = [0, 0];
  for (const pid of pids)
    for (const file of globSync(`/proc/${pid}/task/*/schedstat`)) {
      const [ranNs = 0, , slices = 0] = readFileSync(file, "utf8").split(" ").map(Number);
      cpuMs += ranNs / 1e6;
      wakeUps += slices;
    }
  return { cpuMs, wakeUps };
}

function childrenOf(pid: number): readonly number[] {
  const text = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
  return text.split(" ").filter(Boolean).map(Number);
}

function processesOf(system: BenchSystem): ReadonlyMap<string, readonly number[]> {
  const { services, postgres: server, simulator } = system.describe();
  const postmaster = server?.pid ?? 0;
  return new Map([
    ...SERVICES.map((name) => [name, services[name].map(({ pid }) => pid)] as const),
    ["postgres", [postmaster, ...childrenOf(postmaster)]],
    ["simulator", [simulator.pid]],
  ]);
}

/** What a process used in each second, and its memory. */
type Figures = readonly [cpuMs: number, wakeUps: number, megabytes: number];

const toRow = (name: string, [cpuMs, wakeUps, megabytes]: Figures): string =>
  `| ${name} | ${cpuMs.toFixed(1)} | ${wakeUps.toFixed(0)} | ${megabytes.toFixed(0)} |`;

async function measureProcesses(system: BenchSystem): Promise<readonly string[]> {
  const processes = [...processesOf(system)];
  const read = () => processes.map(([, pids]) => useOf(pids));
  const [before, startedAt] = [read(), performance.now()];
  await sleep(SECONDS * 1000);
  const [after, seconds] = [read(), (performance.now() - startedAt) / 1000];
  const figures = processes.map(([name, pids], index): [string, Figures] => {
    const [from, to] = [before[index], after[index]];
    const perSecond = (key: keyof Use) => ((to?.[key] ?? 0) - (from?.[key] ?? 0)) / seconds;
    return [name, [perSecond("cpuMs"), perSecond("wakeUps"), megabytesOf(pids)]];
  });
  const sumOf = (some: readonly [string, Figures][], at: 0 | 1 | 2): number =>
    some.reduce((sum, [, each]) => sum + each[at], 0);
  const counted = figures.filter(([name]) => name !== "simulator");
  const services = figures.slice(0, SERVICES.length);
  const sum: Figures = [sumOf(counted, 0), sumOf(counted, 1), sumOf(services, 2)];
  return [
    "| idle | CPU ms/s | wake-ups/s | RSS MB |",
    "|---|---:|---:|---:|",
    ...figures.map(([name, each]) => toRow(name, each)),
    toRow("all but the simulator; memory of the services", sum),
  ];
}

/** The line of a statement in Postgres's log: who sent it, and its text on one line. */
const LOG_LINE = /^@@(.*?)@ LOG: {2}(?:statement|execute [^:]+|fastpath function call): ([^]*)$/;

async function measureStatements({ local }: BenchSystem): Promise<readonly string[]> {
  const sql = postgres(local.databaseUrl, { max: 1, onnotice: () => {} });
  await sql`alter system set log_line_prefix = '@@%a@ '`;
  await sql`alter system set log_parameter_max_length = 0`;
  await sql`alter system set log_statement = 'all'`;
  await sql`select pg_reload_conf()`;
  await sleep(500);
  const file = join(local.logs, "postgres.log");
  const start = statSync(file).size;
  await sleep(SECONDS * 1000);
  const text = readFileSync(file).subarray(start).toString();
  await sql`alter system reset all`;
  await sql`select pg_reload_conf()`;
  await sql.end();
  const statements = text.split(/\n(?=@@)/).flatMap((line) => {
    const [, sender, statement] = LOG_LINE.exec(line) ?? [];
    if (statement === undefined) return [];
    return [`${sender} | ${statement.replaceAll(/\s+/g, " ").trim().slice(0, 110)}`];
  });
  const counts = [...Map.groupBy(statements, (each) => each)]
    .map(([statement, all]) => ({ statement, perSecond: all.length / SECONDS }))
    .toSorted((a, b) => b.perSecond - a.perSecond);
  return [
    "| statements per second | sender | statement |",
    "|---:|---|---|",
    `| ${(statements.length / SECONDS).toFixed(1)} | all | |`,
    ...counts.map(
      ({ statement, perSecond }) =>
        `| ${perSecond.toFixed(2)} | ${statement.replaceAll("|", "\\|").replace(String.raw`\|`, "|")} |`,
    ),
  ];
}

/** Seconds since the system was booted. */
function uptime(): number {
  return Number(readFileSync("/proc/uptime", "utf8").split(" ")[0]);
}

function startedAt(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19]) / TICKS_PER_SECOND;
}

async function isReady({ metricsUrl }: LocalService): Promise<boolean> {
  const answer = await fetch(`${metricsUrl}/readyz`).catch(() => undefined);
  await answer?.arrayBuffer();
  return answer?.ok === true;
}

/** Stops the process and waits for the one that the stack starts in its place. */
async function restart(
  system: BenchSystem,
  name: (typeof SERVICES)[number],
): Promise<{ readonly cpuMs: number; readonly readyMs: number }> {
  const before = system.describe().services[name][0]?.pid ?? 0;
  process.kill(before, "SIGTERM");
  for (;;) {
    const [now] = system.describe().services[name];
    if (now !== undefined && now.pid !== before && (await isReady(now)))
      return {
        cpuMs: useOf([now.pid]).cpuMs,
        readyMs: 1000 * (uptime() - startedAt(now.pid)),
      };
    await sleep(5);
  }
}

async function measureStarts(system: BenchSystem): Promise<readonly string[]> {
  const rows: string[] = [];
  const sums = [0, 0];
  for (const name of SERVICES) {
    const starts: Awaited<ReturnType<typeof restart>>[] = [];
    for (let index = 0; index < STARTS; index += 1) starts.push(await restart(system, name));
    const cpuMs = percentile(
      starts.map((start) => start.cpuMs),
      0.5,
    );
    const readyMs = percentile(
      starts.map((start) => start.readyMs),
      0.5,
    );
    sums[0] = (sums[0] ?? 0) + cpuMs;
    sums[1] = Math.max(sums[1] ?? 0, readyMs);
    rows.push(`| ${name} | ${cpuMs.toFixed(0)} | ${readyMs.toFixed(0)} |`);
  }
  const [cpuMs = 0, readyMs = 0] = sums;
  return [
    "| start | CPU ms | ready after ms |",
    "|---|---:|---:|",
    ...rows,
    `| sum; longest | ${cpuMs.toFixed(0)} | ${readyMs.toFixed(0)} |`,
  ];
}

await using system = await startBenchSystem("postgres");
await sleep(SETTLE_MS);
const tables = [
  await measureProcesses(system),
  await measureStatements(system),
  await measureStarts(system),
];
process.stdout.write(`\n${tables.map((table) => table.join("\n")).join("\n\n")}\n`);
