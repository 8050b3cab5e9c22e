import { readFileSync } from "node:fs";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { collectDefaultMetrics, Counter, Gauge, Histogram, register } from "prom-client";

const SAMPLE_MS = 10;
const LOOK_MS = 1_000;
/** Part of a processor. An idle process uses less than a third of it. */
const MIN_CPU_SHARE = 0.02;

/** Each call returns the part of a processor that the process has used since the call before. */
function createCpuShare(): () => number {
  let [before, readAt] = [process.cpuUsage(), performance.now()];
  return () => {
    const [used, now] = [process.cpuUsage(before), performance.now()];
    const share = (used.user + used.system) / 1_000 / (now - readAt);
    [before, readAt] = [process.cpuUsage(), now];
    return share;
  };
}

/**
 * How late the event loop is, since the histogram was last reset. A sample every 10 ms takes as
 * much processor time as everything else that an idle process does, so samples are taken only while
 * the process works.
 */
export function watchLoopDelay(
  readCpuShare = createCpuShare(),
): ReturnType<typeof monitorEventLoopDelay> {
  const delay = monitorEventLoopDelay({ resolution: SAMPLE_MS });
  setInterval(() => {
    if (readCpuShare() < MIN_CPU_SHARE) delay.disable();
    else delay.enable();
  }, LOOK_MS).unref();
  return delay;
}

const NEVER_MS = 2 ** 30;
const LAG = "nodejs_eventloop_lag";

// Replaces the library's own samples of the event loop, which it never stops taking.
collectDefaultMetrics({ eventLoopMonitoringPrecision: NEVER_MS });
for (const { name } of register.getMetricsAsArray())
  if (name.startsWith(LAG)) register.removeSingleMetric(name);

const loopDelay = watchLoopDelay();

createGauge(
  `${LAG}_p99_seconds`,
  "99th percentile of the delays of the event loop since the last measurement; 0 while the process is idle.",
  [],
  (gauge) => {
    gauge.set(loopDelay.percentile(99) / 1e9);
    loopDelay.reset();
  },
);

let utilization = performance.eventLoopUtilization();

createGauge(
  "nodejs_eventloop_utilization",
  "Part of the time since the last measurement in which the event loop was busy, from 0 to 1.",
  [],
  (gauge) => {
    const now = performance.eventLoopUtilization();
    gauge.set(performance.eventLoopUtilization(now, utilization).utilization);
    utilization = now;
  },
);

const buildInfo = createGauge("postrider_build_info", "1, for each build that runs.", [
  "service",
  "version",
]);

/** Adds the name of the service to the metrics of the process. */
export function describeProcess(service: string): void {
  const { version } = JSON.parse(
    readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
  ) as { version: string };
  buildInfo.set({ service, version }, 1);
}

export async function renderMetrics(): Promise<{
  readonly contentType: string;
  readonly body: string;
}> {
  return { contentType: register.contentType, body: await register.metrics() };
}

export interface RegisteredMetric {
  readonly name: string;
  readonly type: string;
  readonly labelNames: readonly string[];
}

export function listMetrics(): readonly RegisteredMetric[] {
  return register.getMetricsAsArray().map((metric) => {
    const { name, type, labelNames } = metric as unknown as RegisteredMetric;
    return { name, type, labelNames };
  });
}

/**
 * Name it `<noun>_total`.
 *
 * @param known Series with the value 0 from the start: a series that is created by its first count
 *   shows no increase, so series with alerts must be listed here.
 */
export function createCounter<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
  known: readonly Readonly<Record<L, string>>[] = [],
): Counter<L> {
  const counter = new Counter({ name, help, labelNames });
  for (const labels of known) counter.inc(labels, 0);
  return counter;
}

/** @param measure Called each time metrics are read, to set the current value. */
export function createGauge<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
  measure?: (gauge: Gauge<L>) => void | Promise<void>,
): Gauge<L> {
  if (measure === undefined) return new Gauge({ name, help, labelNames });
  return new Gauge({
    name,
    help,
    labelNames,
    async collect() {
      await measure(this);
    },
  });
}

/** Grows without further updates. */
export interface AgeGauge<L extends string> {
  /** @param since Since when the oldest item waits; undefined when none does. */
  set(labels: Record<L, string>, since: Date | undefined): void;
  /** Another process reports these series from now on. */
  forget(isForgotten: (labels: Record<L, string>) => boolean): void;
}

/** Seconds since an instant; 0 while nothing waits. */
export function createAgeGauge<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
): AgeGauge<L> {
  const known = new Map<string, { labels: Record<L, string>; since: Date | undefined }>();
  const gauge = createGauge(name, help, labelNames, (of) => {
    for (const { labels, since } of known.values()) {
      const ageMs = since === undefined ? 0 : Date.now() - since.getTime();
      of.set(labels, Math.max(0, ageMs / 1000));
    }
  });
  return {
    set: (labels, since) => void known.set(JSON.stringify(labels), { labels, since }),
    forget: (isForgotten) => {
      for (const [key, { labels }] of known) {
        if (!isForgotten(labels)) continue;
        known.delete(key);
        gauge.remove(labels);
      }
    },
  };
}

/** In seconds, with buckets from 1 ms to 60 s. */
export function createDurationHistogram<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
): Histogram<L> {
  return new Histogram({
    name,
    help,
    labelNames,
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60],
  });
}
