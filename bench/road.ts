/**
 * Lists the source files on the road of one text post on X, from `POST /posts` to its status `published`, with the functions
 * that are called. A file is on the road if one of its functions is called during that time, and neither by idle processes
 * nor by other requests and events. The files of the gateway, the posts service and the publishing trade of delivery count,
 * and those of `packages/platforms` and `packages/rest`; admission of requests does not.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { makeTestFolder } from "@postrider/local/test-folder";
import postgres from "postgres";
import { startBenchSystem, type BenchSystem } from "./system.ts";

const SERVICES = ["gateway", "accounts", "posts", "media", "delivery"] as const;
const ROOT = join(import.meta.dirname, "..");
const COUNTED = /^(services\/(gateway|posts|delivery)|packages\/(platforms|rest))\/src\//;
const NOT_COUNTED = /^services\/(gateway\/src\/operations|delivery\/src\/(webhooks|engagement))\//;
const IDLE_MS = 20_000;
/** Time in milliseconds after which the work that follows a request has ended. */
const FOLLOWING_MS = 3_000;
const POSTS = 2;

const calls = makeTestFolder("road-calls");
let snapshots = 0;

/** Returns the functions that the services have called since the last time, with their files. */
async function takeCalls(system: BenchSystem): Promise<ReadonlySet<string>> {
  snapshots += 1;
  const { services } = system.describe();
  const called = new Set<string>();
  for (const service of SERVICES) {
    const [replica] = services[service];
    if (replica === undefined) throw new Error(`${service} is not running`);
    const path = join(calls, `${service}-${snapshots}.json`);
    process.kill(replica.pid, "SIGUSR2");
    while (!existsSync(path)) await sleep(20);
    const files = JSON.parse(readFileSync(path, "utf8")) as Record<string, readonly string[]>;
    for (const [file, functions] of Object.entries(files))
      for (const name of functions) called.add(`${relative(ROOT, file)} ${name}`);
  }
  return called;
}

/** Publishes a post, and returns when its target is published. The status is read from the database, not through a service. */
async function publish(system: BenchSystem, sql: postgres.Sql, content: string): Promise<void> {
  const account = system.local.accounts.find(({ platform }) => platform === "x");
  const body = { content, accountIds: [account?.id] };
  const { id } = await system.call<{ id: string }>("POST", "/posts", body);
  for (let status = ""; status !== "published"; await sleep(10)) {
    const [row] = await sql<{ status: string }[]>`
      select status from posts.targets where post_id = ${id}`;
    status = row?.status ?? "";
  }
}

/** Sends requests that have nothing to do with a post, and creates an event. */
async function doOtherWork(system: BenchSystem): Promise<void> {
  const slots = { name: "Noon", weekdays: ["mon"], times: ["12:00"], timezone: "UTC" };
  const { id } = await system.call<{ id: string }>("POST", "/queue-slots", slots);
  for (const path of ["/accounts", "/queue-slots", "/quota"]) await system.call("GET", path);
  await system.call("DELETE", `/queue-slots/${id}`);
  await system.connect("x", 1);
}

const hook = `--import=${join(import.meta.dirname, "road-calls.ts")}`;
await using system = await startBenchSystem("postgres", { NODE_OPTIONS: hook, ROAD_CALLS: calls });
const sql = postgres(system.local.databaseUrl, { max: 1 });
// The first post fills caches, and functions that only a first use calls are not counted.
await publish(system, sql, "the first post");
await sleep(FOLLOWING_MS);
const roads: ReadonlySet<string>[] = [];
const others = new Set<string>();
for (let index = 0; index < POSTS; index += 1) {
  await takeCalls(system);
  await sleep(IDLE_MS);
  for (const name of await takeCalls(system)) others.add(name);
  await publish(system, sql, `post ${index}`);
  roads.push(await takeCalls(system));
  await sleep(FOLLOWING_MS);
  await takeCalls(system);
  await doOtherWork(system);
  await sleep(FOLLOWING_MS);
  for (const name of await takeCalls(system)) others.add(name);
}
await sql.end();
rmSync(calls, { recursive: true });
const called = roads.reduce((all, road) => all.intersection(road)).difference(others);
const functionsOf = Map.groupBy(
  [...called].map((name) => name.split(" ")),
  ([file = ""]) => file,
);
const counted = [...functionsOf.keys()]
  .filter((file) => COUNTED.test(file) && !NOT_COUNTED.test(file))
  .toSorted();
for (const file of counted) {
  // The last part of a function's key is its place in the file.
  const names = functionsOf.get(file)?.map((parts) => parts.slice(1, -1).join(" "));
  const named = names?.filter((name) => name !== "") ?? [];
  process.stdout.write(`${file}: ${named.join(", ")}\n`);
}
const withoutSql = counted.filter((file) => !file.includes("/db/"));
process.stdout.write(`${counted.length} files, ${withoutSql.length} of them without SQL\n`);
