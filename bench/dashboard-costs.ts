/**
 * Measures what the dashboard costs: the time and the CPU time until a system answers, and the
 * memory of the gateway then and after its page was loaded 50 times. `node bench/dashboard-costs.ts
 * [rounds]` starts systems without and with it in turns, and prints a Markdown table with the
 * median of each, and of the difference between the two of a round. The time of a start depends on
 * what else the machine does; its CPU time, in which that of the command, the services and what
 * they start is summed, does not. The page has been built before, as in an image.
 */
import { cpuSeconds, cpuSecondsOfFamily, megabytesOf, percentile } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const ROUNDS = Number(process.argv[2] ?? 5);
const LOADS = 50;

/** In the order of the table. */
interface Cost {
  readonly startMs: number;
  readonly startCpuMs: number;
  readonly gatewayCpuMs: number;
  readonly megabytes: number;
  readonly megabytesAfterLoads: number;
}

/** Reads the page and every file that it names, as browsers do at the first visit. */
async function load(baseUrl: string): Promise<void> {
  const page = await (await fetch(`${baseUrl}/app/posts`)).text();
  const files = [...page.matchAll(/(?:src|href)="(\/app\/[^"]+)"/g)].map(([, path]) => path);
  for (const path of files) await (await fetch(`${baseUrl}${path}`)).arrayBuffer();
}

async function measure(dashboard: "on" | "off"): Promise<Cost> {
  const startedAt = performance.now();
  const before = cpuSecondsOfFamily(process.pid);
  await using system = await startBenchSystem("postgres", { DASHBOARD: dashboard });
  const startMs = performance.now() - startedAt;
  const startCpuMs = 1_000 * (cpuSecondsOfFamily(process.pid) - before);
  const pids = system.local.services.gateway.map(({ pid }) => pid);
  const gatewayCpuMs = 1_000 * pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const megabytes = megabytesOf(pids);
  for (let count = 0; count < LOADS; count += 1) await load(system.local.baseUrl);
  return { startMs, startCpuMs, gatewayCpuMs, megabytes, megabytesAfterLoads: megabytesOf(pids) };
}

function rowOf(name: string, costs: readonly Cost[]): string {
  const cell = (read: (cost: Cost) => number) => Math.round(percentile(costs.map(read), 0.5));
  return `| ${name} | ${cell((cost) => cost.startMs)} | ${cell((cost) => cost.startCpuMs)} | ${cell((cost) => cost.gatewayCpuMs)} | ${cell((cost) => cost.megabytes)} | ${cell((cost) => cost.megabytesAfterLoads)} |`;
}

function differenceOf(off: Cost, on: Cost): Cost {
  return {
    startMs: on.startMs - off.startMs,
    startCpuMs: on.startCpuMs - off.startCpuMs,
    gatewayCpuMs: on.gatewayCpuMs - off.gatewayCpuMs,
    megabytes: on.megabytes - off.megabytes,
    megabytesAfterLoads: on.megabytesAfterLoads - off.megabytesAfterLoads,
  };
}

// The first start builds the page, and fills the caches of the file system.
await (await startBenchSystem("postgres"))[Symbol.asyncDispose]();
const rounds: { readonly off: Cost; readonly on: Cost }[] = [];
for (let round = 0; round < ROUNDS; round += 1)
  rounds.push({ off: await measure("off"), on: await measure("on") });
console.log(
  [
    "| dashboard | start ms | CPU of the start ms | of the gateway ms | memory MB | after 50 loads |",
    "|---|---|---|---|---|---|",
    rowOf(
      "off",
      rounds.map(({ off }) => off),
    ),
    rowOf(
      "on",
      rounds.map(({ on }) => on),
    ),
    rowOf(
      "difference",
      rounds.map(({ off, on }) => differenceOf(off, on)),
    ),
  ].join("\n"),
);
