import { createAgeGauge } from "#src/telemetry/metrics.ts";

const lag = createAgeGauge("consumer_lag_seconds", "Age of the oldest event not yet handled.", [
  "topic",
  "group",
  "partition",
]);

/** A part of a topic that one consumer of a group works on at a time; with Postgres a topic has but one. */
export interface LagPlace {
  readonly topic: string;
  readonly group: string;
  readonly partition: number;
}

/** Reports how old the record is that a group works on now; undefined when it has caught up. */
export function reportLag(place: LagPlace, oldestAt: Date | undefined): void {
  const { topic, group, partition } = place;
  lag.set({ topic, group, partition: String(partition) }, oldestAt);
}

/** Leaves the other partitions to whoever has them now. */
export function keepLag(topic: string, group: string, partitions: readonly number[]): void {
  const kept = new Set(partitions.map(String));
  lag.forget((of) => of.topic === topic && of.group === group && !kept.has(of.partition));
}
