import { createGauge } from "#src/telemetry.ts";

const lagSeconds = createGauge(
  "consumer_lag_seconds",
  "Age of the oldest record not yet handled.",
  ["topic", "group"],
);

/** Reports how old the record is that a group works on now; undefined when it has caught up. */
export function reportLag(topic: string, group: string, oldestAt: Date | undefined): void {
  const lagMs = oldestAt === undefined ? 0 : Date.now() - oldestAt.getTime();
  lagSeconds.set({ topic, group }, Math.max(0, lagMs / 1000));
}
