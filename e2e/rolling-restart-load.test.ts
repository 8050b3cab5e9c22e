import { connect } from "node:net";
import { serviceNames } from "@postrider/local/services";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import { expectAll, expectExactlyOnce } from "./support/burst.ts";
import { announce, printFigures } from "./support/figures.ts";
import { expectServed, measureCapacity, startLoad, tally } from "./support/load.ts";
import { expectRollKeepsMessages } from "./support/rolling-messages.ts";
import { EXIT_LIMIT_MS, restart, roll, type Stop } from "./support/rolling.ts";
import { startSystem, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

const TIMEOUT_MS = 600_000;
const SETTLE_MS = 120_000;
const MAX_PER_SECOND = 100;
/**
 * Request rate during the rolling restart, as a share of the capacity without restarts: five processes start while the
 * load continues.
 */
const SHARE_OF_CAPACITY = 0.25;
/**
 * Assumed maximum response time in seconds, from which the maximum number of requests in flight follows. Requests above
 * that number are not sent.
 */
const IN_FLIGHT_SECONDS = 10;
const ACCOUNTS = 30;
const VISIBLE_CALL_SECONDS = 8;
/** How much longer than the time limit of a publishing call the delivery service may take to stop. */
const DELIVERY_MARGIN_MS = 5_000;

let system: System;
let tenant: Tenant;
let accountIds: readonly string[];
beforeAll(async () => {
  const env = { VISIBLE_CALL_SECONDS: String(VISIBLE_CALL_SECONDS) };
  system = await startSystem("postgres", { replicas: 2, env });
  tenant = await openTenant(system, ["--monthly-quota", "100000", "--daily-quota", "100000"]);
  accountIds = await tenant.connectAll("bluesky", ACCOUNTS);
}, TIMEOUT_MS);
afterAll(() => system[Symbol.asyncDispose]());

const limitOf = ({ service }: Stop): number =>
  service === "delivery" ? VISIBLE_CALL_SECONDS * 1000 + DELIVERY_MARGIN_MS : EXIT_LIMIT_MS;

/** Checks that every stopped process ended by itself and within its time limit. */
function expectGoodEnds(stops: readonly Stop[], reports: readonly string[]): void {
  expect(stops.filter((stop) => stop.exitMs > limitOf(stop))).toEqual([]);
  const ends = reports.filter((line) => line.includes(" ended: "));
  expect(ends.filter((line) => !line.endsWith("ended: exit code 0"))).toEqual([]);
  expect(ends).toHaveLength(stops.length);
}

/**
 * Chooses 100 requests/s where the measured capacity is four times as much, and fewer on a slower machine. Prints the
 * chosen rate.
 */
async function chooseRate(): Promise<number> {
  const { perSecond: capacity, report } = await measureCapacity({ api: tenant.api, accountIds });
  await expectAll({ ...system, api: tenant.api }, report, "published", SETTLE_MS);
  const affordable = Math.floor(capacity * SHARE_OF_CAPACITY);
  const rate = Math.max(1, Math.min(MAX_PER_SECOND, affordable));
  announce(`rolling restart: ${rate} requests/s planned, ${Math.round(capacity)}/s measured`);
  return rate;
}

// This test is first, because it reads all publishing attempts and process stops so far. rolling-restart-kafka.test.ts
// runs the same test on the Kafka bus.
test(
  "a rolling restart of the delivery service on the Postgres bus sends every Telegram message once and leaves no message with an unknown outcome",
  () => expectRollKeepsMessages(system),
  TIMEOUT_MS,
);

test(
  "a rolling restart of every service under load (100 requests/s, fewer on a slow machine) loses no post and refuses at most 1 % of requests, each with a Retry-After header",
  async () => {
    const settled = system.reports().length;
    const { api } = tenant;
    const perSecond = await chooseRate();
    const mostInFlight = perSecond * IN_FLIGHT_SECONDS;
    const load = startLoad({ api, perSecond, mostInFlight, accountIds, label: "rolling" });
    await eventually(() => load.report().posts.length > 0);

    const stops = await roll(system, serviceNames);
    const report = await load.stop();
    const { planned, notSent, samples } = report;
    announce(`rolling restart: ${planned} planned at ${perSecond}/s, ${notSent} of them not sent`);
    printFigures("rolling restart", { stops, answers: tally(samples) });

    expectServed(report);
    expectGoodEnds(stops, system.reports().slice(settled));
    // In this load, one in five requests creates a post.
    expect(report.posts.length).toBeGreaterThan(planned / 10);
    await expectAll({ ...system, api }, report, "published", SETTLE_MS);
    await expectExactlyOnce(system, report, ["bluesky"]);
  },
  TIMEOUT_MS,
);

/** Locks the named tables, so that every statement on them waits until the lock is disposed of. */
async function lockTables(names: readonly string[]): Promise<AsyncDisposable> {
  const connection = await system.sql.reserve();
  await connection`begin`;
  for (const name of names)
    await connection`lock table ${connection(name)} in access exclusive mode`;
  return {
    [Symbol.asyncDispose]: async () => {
      await connection`rollback`;
      connection.release();
    },
  };
}

/**
 * Opens two connections to the gateway: over one the client sends a request that never ends, over the other it sends
 * nothing.
 */
function openLazyConnections(): Disposable {
  const { url = "" } = system.local().services.gateway[0] ?? {};
  const { hostname, port } = new URL(url);
  const [idle, unfinished] = [0, 1].map(() => connect(Number(port), hostname));
  unfinished?.write("POST /api/v1/posts HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n{");
  for (const socket of [idle, unfinished]) socket?.on("error", () => socket.destroy());
  return {
    [Symbol.dispose]: () => {
      for (const socket of [idle, unfinished]) socket?.destroy();
    },
  };
}

test(
  "every service stops in time after SIGTERM while it has hanging requests, and every request is answered",
  async () => {
    const { api } = tenant;
    const settled = system.reports().length;
    const [hanging = ""] = accountIds;
    // The simulated platform answers long after the time limit of a call.
    const slow = { platform: "bluesky", operation: "publish", mode: "delay", delayMs: 60_000 };
    await system.simulator.addFault({ ...slow, times: 4 });
    const inProgress = await api.createPost("in progress", [hanging]);
    await eventually(async () => {
      const rows = await system.sql`
        select 1 from delivery.publish_tasks where status = 'calling' and post_id = ${inProgress.id}`;
      return rows.length > 0;
    });
    using _lazy = openLazyConnections();
    const tables = await lockTables(["posts.posts", "accounts.accounts", "media.media"]);
    const questions: readonly (readonly [string, string])[] = [
      ["GET", "/posts?limit=5"],
      ["GET", "/accounts"],
      ["POST", `/media/${crypto.randomUUID()}/complete`],
    ];
    const asked = questions.flatMap((question) => [1, 2, 3, 4].map(() => api.call(...question)));
    await eventually(async () => {
      const [row] = await system.sql<{ count: number }[]>`
        select count(*)::int as count from pg_stat_activity where wait_event_type = 'Lock'`;
      return (row?.count ?? 0) >= questions.length;
    });

    // Both replicas of the delivery service are stopped, because either may have the call in progress.
    const stops = await Promise.all([
      ...serviceNames.map((service) => restart(system, service, 0)),
      restart(system, "delivery", 1),
    ]);
    await tables[Symbol.asyncDispose]();
    printFigures("stops while requests hang", stops);
    expectGoodEnds(stops, system.reports().slice(settled));
    const answers = await Promise.all(asked);
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => ![200, 404, 503, 504].includes(status))).toEqual([]);
    await expectAll({ ...system, api }, { posts: [inProgress] }, "published", SETTLE_MS);
  },
  TIMEOUT_MS,
);
