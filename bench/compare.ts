/**
 * Compares this checkout with another one, for example a worktree of an earlier commit:
 * `node bench/compare.ts <folder> [rounds]`. Both stacks run at the same time and get the same
 * requests in turn, because the speed of a shared machine changes from minute to minute, and by
 * more than what a commit changes. Prints a Markdown table.
 */
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { measure, type Load, type Measured } from "./measure.ts";
import {
  createAuthor,
  createLoad,
  pageLoad,
  publishOne,
  readLoad,
  validateLoad,
  type Author,
} from "./posts-load.ts";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const [folder, rounds = "8"] = process.argv.slice(2);
if (folder === undefined) throw new Error("usage: node bench/compare.ts <folder> [rounds]");
const ROUNDS = Number(rounds);
const WORKSPACES = 40;
const BASE = { connections: 50, seconds: 3 };

/** Returns the load of a round on one of the two checkouts. */
type LoadOf = (round: number) => Omit<Load, keyof typeof BASE>;

/** The loads on one of the two checkouts. */
interface Side {
  readonly read: LoadOf;
  readonly validate: LoadOf;
  readonly page: LoadOf;
  readonly create: LoadOf;
  readonly createByMany: LoadOf;
}

/**
 * Publishes the post that the clients read, then pauses publishing, so that only the creation of
 * posts is measured. Each round creates its posts on another account, because Bluesky limits the
 * number of posts of an account in a day.
 */
async function prepare(system: BenchSystem): Promise<Side> {
  const { local } = system;
  const postId = await publishOne(local);
  const accountIds = await system.connect("bluesky", ROUNDS);
  const authors: Author[] = [];
  for (let number = 0; number < WORKSPACES; number += 1)
    authors.push(await createAuthor(system, `Workspace ${number}`));
  await system.operate("pause", "--platform", "bluesky");
  return {
    read: () => readLoad(local, postId),
    validate: () => validateLoad(local),
    page: () => pageLoad(local),
    create: (round) => {
      const author = { apiKey: local.apiKey, accountId: accountIds[round] ?? "" };
      return createLoad(local, "`POST /posts` in one workspace, publishing paused", [author]);
    },
    createByMany: () => createLoad(local, `the same in ${WORKSPACES} workspaces`, authors),
  };
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/**
 * Returns the geometric mean of the ratios, and the factor within which it lies with a probability
 * of 95 %.
 */
function averageRatio(ratios: readonly number[]): string {
  const logs = ratios.map(Math.log);
  const centre = mean(logs);
  const variance = mean(logs.map((log) => (log - centre) ** 2)) / (logs.length - 1);
  const error = Math.expm1(2 * Math.sqrt(variance));
  return `${Math.exp(centre).toFixed(2)} ± ${(error * 100).toFixed(0)} %`;
}

/**
 * Runs the same load on both checkouts in turn, each first in every second round. Returns a row of
 * the table.
 */
async function compare(ofBefore: LoadOf, ofNow: LoadOf): Promise<string> {
  const before: Measured[] = [];
  const now: Measured[] = [];
  const runs = [
    async (round: number) => before.push(await measure({ ...BASE, ...ofBefore(round) })),
    async (round: number) => now.push(await measure({ ...BASE, ...ofNow(round) })),
  ];
  for (let round = 0; round < ROUNDS; round += 1)
    for (const run of round % 2 === 0 ? runs : runs.toReversed()) await run(round);
  const average = (all: readonly Measured[], valueOf: (one: Measured) => number) =>
    mean(all.map(valueOf)).toFixed(0);
  const cpu = Object.keys(now[0]?.cpuUs ?? {}).map((name) => {
    const ofService = ({ cpuUs }: Measured): number => cpuUs[name] ?? 0;
    return `${name} ${average(before, ofService)} → ${average(now, ofService)}`;
  });
  const perSecond = ({ requestsPerSecond }: Measured): number => requestsPerSecond;
  const ratios = now.map((one, index) => perSecond(one) / (before[index]?.requestsPerSecond ?? 0));
  const failures = [...before, ...now].reduce((sum, one) => sum + one.failures, 0);
  const total = (all: readonly Measured[]) =>
    average(all, ({ cpuUs }) => Object.values(cpuUs).reduce((sum, each) => sum + each, 0));
  cpu.unshift(`all ${total(before)} → ${total(now)}`);
  return `| ${now[0]?.name} | ${average(before, perSecond)} | ${average(now, perSecond)} | ${averageRatio(ratios)} | ${cpu.join(", ")} | ${failures} |`;
}

const other = pathToFileURL(join(resolve(folder), "bench", "system.ts")).href;
const { startBenchSystem: startOther } = (await import(other)) as {
  readonly startBenchSystem: typeof startBenchSystem;
};
await using before = await startOther("postgres");
await using now = await startBenchSystem("postgres");
const [ofBefore, ofNow] = [await prepare(before), await prepare(now)];
const rows = [
  await compare(ofBefore.read, ofNow.read),
  await compare(ofBefore.validate, ofNow.validate),
  await compare(ofBefore.create, ofNow.create),
  await compare(ofBefore.createByMany, ofNow.createByMany),
  // Last, because the page consists of the posts that were created before.
  await compare(ofBefore.page, ofNow.page),
];
process.stdout.write(
  `\n| what | before, requests/s | now, requests/s | ratio | CPU µs per request, before → now | failures |\n|---|---|---|---|---|---|\n${rows.join("\n")}\n`,
);
