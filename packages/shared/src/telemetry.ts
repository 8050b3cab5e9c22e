import { collectDefaultMetrics, Counter, Gauge, Histogram, register } from "prom-client";

collectDefaultMetrics();

/** All metrics of the process in Prometheus' text format. */
export async function renderMetrics(): Promise<{
  readonly contentType: string;
  readonly body: string;
}> {
  return { contentType: register.contentType, body: await register.metrics() };
}

/** A counter; name it `<noun>_total`. */
export function createCounter<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
): Counter<L> {
  return new Counter({ name, help, labelNames });
}

/** A value that goes up and down. */
export function createGauge<L extends string>(
  name: string,
  help: string,
  labelNames: readonly L[] = [],
): Gauge<L> {
  return new Gauge({ name, help, labelNames });
}

/** A histogram of seconds with buckets from 1 ms to 60 s. */
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
