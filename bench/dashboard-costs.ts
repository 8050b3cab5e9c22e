/**
 * Measures what the dashboard costs: the time and the CPU time until a system answers, and the
 * memory of the gateway then and after its page was loaded 50 times, with the dashboard and without
 * it. `node bench/dashboard-costs.ts [rounds]` prints a Markdown table with the smallest values.
 * The page has been built before, as in an image.
 */
import { cpuSeconds, megabytesOf } from "./measure.ts";
import { startBenchSystem } from "./system.ts";

const ROUNDS = Number(process.argv[2] ?? 3);
const LOADS = 50;

interface Cost {
  readonly startMs: number;
  readonly cpuMs: number;
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
  await using system = await startBenchSystem("postgres", { DASHBOARD: dashboard });
  const startMs = performance.now() - startedAt;
  const pids = system.local.services.gateway.map(({ pid }) => pid);
  const cpuMs = 1_000 * pids.reduce((sum, pid) => sum + cpuSeconds(pid), 0);
  const megabytes = megabytesOf(pids);
  for (let count = 0; count < LOADS; count += 1) await load(system.local.baseUrl);
  return { startMs, cpuMs, megabytes, megabytesAfterLoads: megabytesOf(pids) };
}

await (await startBenchSystem("postgres"))[Symbol.asyncDispose]();
const costs: Record<"on" | "off", Cost[]> = { on: [], off: [] };
for (let round = 0; round < ROUNDS; round += 1)
  for (const dashboard of ["off", "on"] as const) costs[dashboard].push(await measure(dashboard));
console.log(
  "| dashboard | start ms | CPU of the gateway ms | memory MB | after 50 loads |\n|---|---|---|---|---|",
);
for (const [name, found] of Object.entries(costs)) {
  const cell = (read: (cost: Cost) => number) => Math.round(Math.min(...found.map(read)));
  console.log(
    `| ${name} | ${cell((cost) => cost.startMs)} | ${cell((cost) => cost.cpuMs)} | ${cell((cost) => cost.megabytes)} | ${cell((cost) => cost.megabytesAfterLoads)} |`,
  );
}
