import { serviceNames } from "@postrider/local/services";
import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectAll, expectExactlyOnce } from "./support/burst.ts";
import { printFigures } from "./support/figures.ts";
import { expectNoneLost, startLoad, tally, type Load, type Sample } from "./support/load.ts";
import { startSystem, type BusKind, type System } from "./support/system.ts";
import { openTenant, type Tenant } from "./support/tenant.ts";

const secondsOr = (fallback: number): number =>
  Number(process.env.POSTRIDER_E2E_OUTAGE_SECONDS ?? fallback);
/**
 * Length of each outage in ms. Postrider promises to survive outages of 60 s and more, which
 * `POSTRIDER_E2E_OUTAGE_SECONDS=60` tests. The shorter defaults suffice: once the connections to Postgres are broken
 * and the sessions of all members of Kafka groups (6 s) have expired, a longer outage makes no difference.
 */
const OUTAGE_MS = { postgres: secondsOr(3) * 1000, kafka: secondsOr(12) * 1000 };
const TIMEOUT_MS = 240_000 + 2 * Math.max(OUTAGE_MS.postgres, OUTAGE_MS.kafka);
const PER_SECOND = 20;
const SETTLE_MS = 120_000;
/** How long a gateway may accept requests from its caches and reserved request budgets after Postgres has stopped. */
const NOTICE_MS = 1_000;
/**
 * Maximum time until the refusal of a request: far below the deadline of any request, and long enough for a loaded
 * machine.
 */
const QUICK_MS = 3_000;
const ACCOUNTS = 20;

const allPids = (system: System) =>
  Object.fromEntries(serviceNames.map((service) => [service, system.pids(service)]));

async function isAllReady(system: System): Promise<boolean> {
  const urls = Object.values(system.local().services).flatMap((replicas) =>
    replicas.map(({ metricsUrl }) => metricsUrl),
  );
  const answers = await Promise.all(urls.map((url) => fetch(`${url}/readyz`)));
  return answers.every(({ ok }) => ok);
}

interface Outage {
  /** The requests that clients sent during the outage. */
  readonly samples: readonly Sample[];
  /** The requests that were answered while Postgres or Kafka was still down. */
  readonly answered: readonly Sample[];
  readonly readyAfterMs: number;
}

/**
 * Takes a part of the stack down under load for the length of the outage, and returns the requests that were sent in
 * that time.
 */
async function outageOf(
  system: System,
  load: Load,
  part: "postgres" | "kafka",
  signal: NodeJS.Signals,
): Promise<Outage> {
  await eventually(() => load.report().posts.length >= PER_SECOND, { timeoutMs: 60_000 });
  const { pid = 0 } = system.local()[part] ?? {};
  const release = system.hold(part);
  process.kill(pid, signal);
  await eventually(() => system.reports().some((line) => line.includes(`process ${pid}) ended`)), {
    timeoutMs: 30_000,
  });
  const since = performance.now();
  await eventually(() => performance.now() - since > OUTAGE_MS[part], {
    timeoutMs: 2 * OUTAGE_MS[part],
  });
  const until = performance.now();
  release();
  await eventually(() => system.local()[part]?.pid !== pid, { timeoutMs: 60_000 });
  const backAt = performance.now();
  await eventually(() => isAllReady(system), { timeoutMs: 60_000 });
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

describe.each<BusKind>(["postgres", "kafka"])("the whole system on the %s message bus:", (bus) => {
  let system: System;
  let tenant: Tenant;
  let accountIds: readonly string[];
  beforeAll(async () => {
    system = await startSystem(bus, { replicas: 2 });
    tenant = await openTenant(system, ["--monthly-quota", "100000", "--daily-quota", "100000"]);
    accountIds = await tenant.connectAll("bluesky", ACCOUNTS);
  }, TIMEOUT_MS);
  afterAll(() => system[Symbol.asyncDispose]());

  const begin = (label: string): Load => {
    const { api } = tenant;
    return startLoad({ api, perSecond: PER_SECOND, accountIds, label, isPersistent: true });
  };

  /** Checks that every accepted post was published once, and that no process was restarted. */
  const expectDelivered = async (
    load: Load,
    pids: ReturnType<typeof allPids>,
    label: string,
  ): Promise<void> => {
    const report = load.report();
    await expectAll({ ...system, api: tenant.api }, report, "published", SETTLE_MS);
    await expectExactlyOnce(system, report, ["bluesky"]);
    const visible = await system.simulator.visible("bluesky");
    expect(visible.filter(({ text }) => text.startsWith(`${label} `))).toHaveLength(
      report.posts.length,
    );
    expect(allPids(system)).toEqual(pids);
  };

  const testPostgresOutage = (...signals: readonly NodeJS.Signals[]) =>
    test.each(signals)(
      "requests are refused at once with a Retry-After header while Postgres is down (stopped with %s), and all accepted posts are published afterwards",
      async (signal) => {
        const label = `postgres ${signal}`;
        const pids = allPids(system);
        const load = begin(label);
        const { samples, answered, readyAfterMs } = await outageOf(
          system,
          load,
          "postgres",
          signal,
        );
        const { notSent } = load.report();
        printFigures(label, {
          ...durationsOf(samples),
          answers: tally(samples),
          notSent,
          readyAfterMs,
        });
        expect(answered.length).toBeGreaterThan(0);
        expectNoneLost({ samples });
        expect(new Set(answered.map(({ status }) => status))).toEqual(new Set([503]));
        expect(samples.filter(({ durationMs }) => durationMs > QUICK_MS)).toEqual([]);
        await expectDelivered(load, pids, label);
      },
      TIMEOUT_MS,
    );

  const testKafkaOutage = () =>
    test(
      "no request is refused while Kafka is down, and all accepted posts are published afterwards",
      async () => {
        const label = "kafka down";
        const pids = allPids(system);
        const load = begin(label);
        const { samples, readyAfterMs } = await outageOf(system, load, "kafka", "SIGKILL");
        const { notSent } = load.report();
        printFigures(label, {
          ...durationsOf(samples),
          answers: tally(samples),
          notSent,
          readyAfterMs,
        });
        expect(samples.length).toBeGreaterThan(0);
        expect(samples.filter(({ status }) => status !== 200 && status !== 202)).toEqual([]);
        await expectDelivered(load, pids, label);
      },
      TIMEOUT_MS,
    );

  if (bus === "postgres") testPostgresOutage("SIGKILL", "SIGINT");
  else {
    testKafkaOutage();
    testPostgresOutage("SIGKILL");
  }
});
