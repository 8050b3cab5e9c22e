import { renderMetrics } from "@postrider/shared/telemetry/metrics";

/**
 * Returns the value of a Prometheus series, for example `name{label="value"}`; 0 if the process has
 * not created the series.
 */
export type ReadSeries = (series: string) => number;

/**
 * Reads the metrics of the process. Several test files run in one process and share its counters,
 * so a test compares a counter before and after.
 */
export async function readSeries(): Promise<ReadSeries> {
  const { body } = await renderMetrics();
  const lines = body.split("\n");
  return (series) => {
    const line = lines.find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  };
}
