import { createAgeGauge } from "#src/telemetry/metrics.ts";

const lag = createAgeGauge("consumer_lag_seconds", "Age of the oldest event not yet handled.", [
  "topic",
  "group",
  "partition",
]);

export interface LagPlace {
  readonly topic: string;
  readonly group: string;
  readonly partition: number;
}

/** The age of the record that is processed now; without a time all are processed. */
export function reportLag(place: LagPlace, oldestAt: Date | undefined): void {
  const { topic, group, partition } = place;
  lag.set({ topic, group, partition: String(partition) }, oldestAt);
}

/** Removes the lag of partitions that are now assigned to another consumer. */
export function keepLag(topic: string, group: string, partitions: readonly number[]): void {
  const kept = new Set(partitions.map(String));
  lag.forget((of) => of.topic === topic && of.group === group && !kept.has(of.partition));
}
