import { TargetUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { handleEvents, type EventHandler } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import { insertPublishedTargets } from "#src/engagement/db/target-metrics.ts";
import { METRICS_END_MS } from "#src/engagement/domain/metrics-schedule.ts";

/**
 * Creates the handler that schedules the refreshes of metrics for published targets.
 * @param platforms The platforms that have metrics.
 */
export function onTargetUpdated(platforms: readonly string[]): EventHandler {
  return handleEvents(TargetUpdatedSchema, async (tx, events) => {
    const published = events.filter(({ message }) => message.status === "published");
    if (published.length === 0) return;
    const targetIds = published.map(({ message }) => message.targetId);
    await insertPublishedTargets(tx, { targetIds, platforms, endMs: METRICS_END_MS });
    failpoint("delivery.in-metrics-consumer");
  });
}
