import { serviceNames } from "@postrider/local/stack/services";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { expectAll, expectExactlyOnce } from "../requests/burst.ts";
import { expectNoneLost, startLoad, tally, type Load, type Sample } from "../requests/load.ts";
import { openTenant, type Tenant } from "../requests/tenant.ts";
import { printFigures } from "../system/figures.ts";
import { areReady } from "../system/rolling.ts";
import type { System } from "../system/system.ts";
import type { FaultStack } from "./fault-stack.ts";

const secondsOr = (fallback: number): number =>
  Number(process.env.POSTRIDER_E2E_OUTAGE_SECONDS ?? fallback);
/**
 * Length of each outage in ms. Postrider promises to survive outages of 60 s and more, which
 * `POSTRIDER_E2E_OUTAGE_SECONDS=60` tests. The shorter defaults suffice: once the connections to
 * Postgres are broken and the sessions of all members of Kafka groups (6 s) have expired, a longer
 * outage makes no difference.
 */
const OUTAGE_MS = { postgres: secondsOr(3) * 1000, kafka: secondsOr(12) * 1000 };
const TIMEOUT_MS = 240_000 + 2 * Math.max(OUTAGE_MS.postgres, OUTAGE_MS.kafka);
const PER_SECOND = 10;
const SETTLE_MS = 120_000;
/**
 * How long a gateway may accept requests after Postgres has stopped, because it has cached answers
 * of the accounts service and reserved requests of the rate limit.
 */
const NOTICE_MS = 1_000;
/**
 * Maximum time until the refusal of a request: far below the deadline of any request, and long
 * enough for a loaded machine.
 */
const QUICK_MS = 3_000;
const ACCOUNTS = 10;
/** Number of posts that are accepted before the outage begins. */
const POSTS_BEFORE = 4;

const allPids = (system: System) =>
  Object.fromEntries(serviceNames.map((service) => [service, system.pids(service)]));

interface Outage {
  /** The requests that clients sent during the outage. */
  readonly samples: readonly Sample[];
  /** The requests that were answered while Postgres or Kafka was still down. */
  readonly answered: readonly Sample[];
  readonly readyAfterMs: number;
}

/**
 * Takes a part of the stack down under load for the length of the outage, and returns the requests
 * that were sent in that time.
 */
async function outageOf(
  system: System,
  load: Load,
  part: "postgres" | "kafka",
  signal: NodeJS.Signals,
): Promise<Outage> {
  await eventually(() => load.report().posts.length >= POSTS_BEFORE);
  const { pid = 0 } = system.local()[part] ?? {};
  const release = system.hold(part);
  process.kill(pid, signal);
  await eventually(() => system.reports().some((line) => line.includes(`process ${pid}) ended`)));
  const since = performance.now();
  await eventually(() => performance.now() - since > OUTAGE_MS[part], {
    timeoutMs: 2 * OUTAGE_MS[part],
  });
  const until = performance.now();
  release();
  await eventually(() => system.local()[part]?.pid !== pid);
  const backAt = performance.now();
  await eventually(() => areReady(system, serviceNames));
  const readyAfterMs = Math.round(performance.now() - backAt);
  const { samples } = await load.stop();
  const isDuring = ({ sentAt }: Sample): boolean => sentAt > since + NOTICE_MS && sentAt < until;
  const during = samples.filter(isDuring);
  const answered = during.filter(({ sentAt, durationMs }) => sentAt + durationMs < until);
  return { samples: during, answered, readyAfterMs };
}

/** Percentiles of the response times, for the printed figures. */
function durationsOf(samples: readonly Sample[]) {
  const sorted = samples.map(({ durationMs }) => Math.round(durationMs)).toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.floor((sorted.length - 1) * share)] ?? 0;
  return { count: sorted.length, p50: at(0.5), p99: at(0.99), max: at(1) };
}

/**
 * Clients that send requests to the system until the outage is over; `pids` are the processes of
 * the system before the outage.
 */
interface Clients {
  readonly label: string;
  readonly tenant: Tenant;
  readonly load: Load;
  readonly pids: ReturnType<typeof allPids>;
}

async function startClients(system: System, label: string): Promise<Clients> {
  const tenant = await openTenant(system, ["--monthly-quota", "100000", "--daily-quota", "100000"]);
  const accountIds = await tenant.connectAll("bluesky", ACCOUNTS);
  const { api } = tenant;
  const load = startLoad({ api, perSecond: PER_SECOND, accountIds, label, isPersistent: true });
  return { label, tenant, load, pids: allPids(system) };
}

/** Checks that every accepted post was published once, and that no process was restarted. */
async function expectDelivered(
  system: System,
  { label, tenant: { api }, load, pids }: Clients,
): Promise<void> {
  const report = load.report();
  await expectAll({ ...system, api }, report, "published", SETTLE_MS);
  await expectExactlyOnce(system, report, ["bluesky"]);
  const visible = await system.simulator.visible("bluesky");
  expect(visible.filter(({ text }) => text.startsWith(`${label} `))).toHaveLength(
    report.posts.length,
  );
  expect(allPids(system)).toEqual(pids);
}

function printOutage({ label, load }: Clients, { samples, readyAfterMs }: Outage): void {
  const { notSent } = load.report();
  const answers = tally(samples);
  printFigures(label, { ...durationsOf(samples), answers, notSent, readyAfterMs });
}

/**
 * Tests that requests are refused while Postgres is stopped, once for each of the given signals
 * with which it is stopped, and that no accepted post is lost.
 */
export function testPostgresOutage(
  stack: () => FaultStack,
  signals: readonly NodeJS.Signals[],
): void {
  test.each(signals)(
    "requests are refused at once with a Retry-After header while Postgres is down (stopped with %s), and all accepted posts are published afterwards",
    async (signal) => {
      const { system } = stack();
      const clients = await startClients(system, `postgres ${signal}`);
      const outage = await outageOf(system, clients.load, "postgres", signal);
      printOutage(clients, outage);
      const { samples, answered } = outage;
      expect(answered.length).toBeGreaterThan(0);
      expectNoneLost({ samples });
      expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([503]));
      expect(samples.filter(({ durationMs }) => durationMs > QUICK_MS)).toEqual([]);
      await expectDelivered(system, clients);
    },
    TIMEOUT_MS,
  );
}

/** Tests that no request is refused while Kafka is stopped, and that no accepted post is lost. */
export function testKafkaOutage(stack: () => FaultStack): void {
  test(
    "no request is refused while Kafka is down, and all accepted posts are published afterwards",
    async () => {
      const { system } = stack();
      const clients = await startClients(system, "kafka down");
      const outage = await outageOf(system, clients.load, "kafka", "SIGKILL");
      printOutage(clients, outage);
      const { samples } = outage;
      expect(samples.length).toBeGreaterThan(0);
      expect(samples.filter(({ status }) => status !== 200 && status !== 202)).toEqual([]);
      await expectDelivered(system, clients);
    },
    TIMEOUT_MS,
  );
}
