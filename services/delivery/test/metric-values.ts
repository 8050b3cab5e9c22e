import { renderMetrics } from "@postrider/shared/telemetry/metrics";

/** Returns the value of a series, for example `name{label="value"}`; 0 if the process has not created it. */
export type ReadSeries = (series: string) => number;

/**
 * Reads the metrics of the process. The test files of one worker share its counters, so a test compares two readings of a
 * counter instead of expecting a value.
 */
export async function readSeries(): Promise<ReadSeries> {
  const { body } = await renderMetrics();
  const lines = body.split("\n");
  return (series) => {
    const line = lines.find((each) => each.startsWith(`${series} `));
    return Number(line?.slice(series.length) ?? 0);
  };
}
