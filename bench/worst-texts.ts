/**
 * Measures how much one workspace delays another one when it sends the worst texts that are known,
 * at its full rate: `node bench/worst-texts.ts [seconds]`. The other workspace validates short
 * posts and lists its posts, alone and beside the worst texts in turn, so that other work on the
 * machine changes both alike. Prints a Markdown table.
 */
import { cpuSeconds, percentile } from "./measure.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";
import { ask, atRate, startWorstSender } from "./worst-sender.ts";

const ROUNDS = 4;
/**
 * Seconds of one round for which the other workspace is measured alone, and as many beside the
 * worst texts.
 */
const SECONDS = Number(process.argv[2] ?? 20) / ROUNDS;
/** The default limit of a workspace: 600 requests a minute. */
const WORST_RATE = { perSecond: 10, seconds: SECONDS };
const MEASURED_RATE = { perSecond: 20, seconds: SECONDS };
/** The services that take part in checking a post. */
const SERVICES = ["gateway", "accounts", "posts"] as const;
/** Maximum number of accounts of a post. */
const MAX_ACCOUNTS = 100;

async function createTenant(system: BenchSystem, name: string): Promise<string> {
  const { id } = (await system.operate("workspace", "create", "--name", name, "--verified")) as {
    id: string;
  };
  await system.operate("workspace", "set-limits", id, "--requests-per-minute", "100000");
  const create = ["key", "create", "--name", name, "--workspace", id, "--scopes", "all"];
  const { key } = (await system.operate(...create)) as { key: string };
  return key;
}

/**
 * The times of answers in milliseconds, and the processor time that each of `SERVICES` used
 * meanwhile.
 */
class Answers {
  readonly times: number[] = [];
  #cpuMs: readonly number[] = SERVICES.map(() => 0);

  async measure(cpuMs: () => number[], work: () => Promise<readonly number[]>): Promise<void> {
    const before = cpuMs();
    this.times.push(...(await work()));
    const after = cpuMs();
    this.#cpuMs = this.#cpuMs.map((ms, index) => ms + (after[index] ?? 0) - (before[index] ?? 0));
  }

  /** Returns the processor time that each process used beyond that of `other`. */
  cpuAbove(other: Answers): number[] {
    return this.#cpuMs.map((ms, index) => ms - (other.#cpuMs[index] ?? 0));
  }
}

await using system = await startBenchSystem("postgres");
const { baseUrl, apiKey, accounts, services } = system.local;
const own = accounts.map(({ id }) => id);
const accountIds = [...own, ...(await system.connect("x", MAX_ACCOUNTS - own.length))];
using sender = startWorstSender({
  target: { baseUrl, key: apiKey },
  accountIds,
  rate: WORST_RATE,
});

const measured = { baseUrl, key: await createTenant(system, "measured") };
const short = JSON.stringify({ content: "A short post.", accountIds: own.slice(0, 1) });
const askMeasured = () =>
  atRate(MEASURED_RATE, (index) =>
    index % 2 === 0 ? ask(measured, "/posts/validate", short) : ask(measured, "/posts?limit=20"),
  );
const cpuMs = () => SERVICES.map((name) => cpuSeconds(services[name][0]?.pid ?? 0) * 1000);

const quiet = new Answers();
const beside = new Answers();
const worst: number[] = [];
// The first round, in which the services compile their code, is not measured.
await Promise.all([askMeasured(), sender.send()]);
for (let round = 0; round < ROUNDS; round += 1) {
  await quiet.measure(cpuMs, askMeasured);
  await beside.measure(cpuMs, async () => {
    const [times, own] = await Promise.all([askMeasured(), sender.send()]);
    worst.push(...own);
    return times;
  });
}

const cpuPerText = beside.cpuAbove(quiet).map((ms) => (ms / worst.length).toFixed(1));
const row = (name: string, times: readonly number[]) =>
  `| ${name} | ${percentile(times, 0.5).toFixed(1)} | ${percentile(times, 0.99).toFixed(1)} | ${Math.max(...times).toFixed(1)} |`;
const failures = [quiet.times, beside.times, worst].flat().filter((ms) => ms === Infinity).length;
const ratio = percentile(beside.times, 0.99) / percentile(quiet.times, 0.99);
console.log(
  [
    "| answers | p50 ms | p99 ms | longest ms |",
    "|---|---|---|---|",
    row("other workspace, alone", quiet.times),
    row("other workspace, beside the worst texts", beside.times),
    row("the worst texts themselves", worst),
    "",
    `processor time of ${SERVICES.join(", ")} per worst text: ${cpuPerText.join(" + ")} ms`,
    `answers with a status of 500 or more: ${failures}`,
    `p99 beside the worst texts / p99 alone: ${ratio.toFixed(2)}`,
  ].join("\n"),
);
