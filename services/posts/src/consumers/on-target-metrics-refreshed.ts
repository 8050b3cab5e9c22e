import { TargetMetricsRefreshedSchema } from "@postrider/contracts/engagement/v1/engagement_events_pb";
import { handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import { applyTargetMetrics } from "#src/operations/apply-target-metrics.ts";

/** Stores the metrics of published posts that the delivery service read on platforms. */
export const onTargetMetricsRefreshed = handleEvents(
  TargetMetricsRefreshedSchema,
  async (tx, events) => {
    await applyTargetMetrics(
      tx,
      events.map(({ message }) => message),
    );
    failpoint("posts.in-consumer");
  },
);
