import { connect } from "node:net";
import { serviceNames } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import type { Api } from "../requests/api.ts";
import { expectAll, expectExactlyOnce } from "../requests/burst.ts";
import { expectServed, startLoad, tally } from "../requests/load.ts";
import { openTenant } from "../requests/tenant.ts";
import { announce, printFigures } from "../system/figures.ts";
import { EXIT_LIMIT_MS, restart, roll, type Stop } from "../system/rolling.ts";
import type { System } from "../system/system.ts";
import { VISIBLE_CALL_SECONDS, type FaultStack } from "./fault-stack.ts";

const TIMEOUT_MS = 600_000;
const SETTLE_MS = 120_000;
/**
 * Request rate during the rolling restart; `POSTRIDER_E2E_ROLLING_REQUESTS=100` sends as many per
 * second.
 */
const PER_SECOND = Number(process.env.POSTRIDER_E2E_ROLLING_REQUESTS ?? 5);
const ACCOUNTS = 10;
/**
 * How much longer than the time limit of a publishing call the delivery service may take to stop.
 */
const DELIVERY_MARGIN_MS = 5_000;

interface Clients {
  readonly api: Api;
  readonly accountIds: readonly string[];
}

async function openClients(system: System): Promise<Clients> {
  const tenant = await openTenant(system, ["--monthly-quota", "100000", "--daily-quota", "100000"]);
  return { api: tenant.api, accountIds: await tenant.connectAll("bluesky", ACCOUNTS) };
}

const limitOf = ({ service }: Stop): number =>
  service === "delivery" ? VISIBLE_CALL_SECONDS * 1000 + DELIVERY_MARGIN_MS : EXIT_LIMIT_MS;

/** Checks that every stopped process ended by itself and within its time limit. */
function expectGoodEnds(stops: readonly Stop[], reports: readonly string[]): void {
  expect(stops.filter((stop) => stop.exitMs > limitOf(stop))).toEqual([]);
  const ends = reports.filter((line) => line.includes(" ended: "));
  expect(ends.filter((line) => !line.endsWith("ended: exit code 0"))).toEqual([]);
  expect(ends).toHaveLength(stops.length);
}

/** Locks the named tables, so that every statement on them waits until the lock is disposed of. */
async function lockTables(system: System, names: readonly string[]): Promise<AsyncDisposable> {
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
 * Opens two connections to the gateway: over one the client sends a request that never ends, over
 * the other it sends nothing.
 */
function openLazyConnections(system: System): Disposable {
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

/** Tests that each process of the system can be replaced while clients send requests. */
export function testRollingRestart(stack: () => FaultStack): void {
  test(
    `a rolling restart of every service under ${PER_SECOND} requests/s loses no post and refuses at most 1 % of requests, each with a Retry-After header`,
    async () => {
      const { system } = stack();
      const { api, accountIds } = await openClients(system);
      const settled = system.reports().length;
      const load = startLoad({ api, perSecond: PER_SECOND, accountIds, label: "rolling" });
      await eventually(() => load.report().posts.length > 0);

      const stops = await roll(system, serviceNames);
      const report = await load.stop();
      const { planned, notSent, samples } = report;
      announce(
        `rolling restart: ${planned} planned at ${PER_SECOND}/s, ${notSent} of them not sent`,
      );
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
}

/** Tests that a service with requests that do not end stops in time. */
export function testStopWhileRequestsHang(stack: () => FaultStack): void {
  test(
    "every service stops in time after SIGTERM while it has hanging requests, and every request is answered",
    async () => {
      const { system } = stack();
      const { api, accountIds } = await openClients(system);
      const settled = system.reports().length;
      const [hanging = ""] = accountIds;
      // The simulated platform answers long after the time limit of a call.
      const slow = { platform: "bluesky", operation: "publish", mode: "delay", delayMs: 60_000 };
      await using _faults = { [Symbol.asyncDispose]: () => system.simulator.clearFaults() };
      await system.simulator.addFault({ ...slow, times: 4 });
      const inProgress = await api.createPost("in progress", [hanging]);
      await eventually(async () => {
        const rows = await system.sql`
        select 1 from delivery.publish_tasks where status = 'calling' and post_id = ${inProgress.id}`;
        return rows.length > 0;
      });
      using _lazy = openLazyConnections(system);
      await using locks = new AsyncDisposableStack();
      locks.use(await lockTables(system, ["posts.posts", "accounts.accounts", "media.media"]));
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

      // Both replicas of the delivery service are stopped, because either may have the call in
      // progress.
      const stops = await Promise.all([
        ...serviceNames.map((service) => restart(system, service, 0)),
        restart(system, "delivery", 1),
      ]);
      await locks.disposeAsync();
      printFigures("stops while requests hang", stops);
      expectGoodEnds(stops, system.reports().slice(settled));
      const answers = await Promise.all(asked);
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => ![200, 404, 503, 504].includes(status))).toEqual([]);
      await expectAll({ ...system, api }, { posts: [inProgress] }, "published", SETTLE_MS);
    },
    TIMEOUT_MS,
  );
}
