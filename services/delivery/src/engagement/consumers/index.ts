import { AccountConnectedSchema } from "@postrider/contracts/accounts/v1/accounts_events_pb";
import {
  DeletionUpdatedSchema,
  TargetUpdatedSchema,
} from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { type EventHandler, handleEvents } from "@postrider/shared/bus/consumer";
import { failpoint } from "@postrider/shared/process/failpoints";
import { resumeAccounts } from "#src/engagement/db/reconnected-accounts.ts";
import { deleteTargetMetrics, insertPublishedTargets } from "#src/engagement/db/target-metrics.ts";
import { METRICS_END_MS } from "#src/engagement/domain/metrics-schedule.ts";

/** Engagement handles topics independently of publishing and webhooks. */
export const ENGAGEMENT_GROUP = "delivery.engagement";

/** @param platforms The platforms that have metrics. */
export function createEngagementHandlers(
  platforms: readonly string[],
): Readonly<Record<string, readonly EventHandler[]>> {
  return {
    "accounts.events.v1": [onAccountConnected],
    "delivery.events.v1": [onTargetUpdated(platforms), onDeletionUpdated],
  };
}

/** Resumes refreshes of metrics and polls for comments when an account is connected again. */
const onAccountConnected = handleEvents(AccountConnectedSchema, async (tx, events) => {
  await resumeAccounts(
    tx,
    events.map(({ message }) => message),
  );
});

const onDeletionUpdated = handleEvents(DeletionUpdatedSchema, async (tx, events) => {
  const deleted = events.filter(({ message }) => message.status === "deleted");
  if (deleted.length === 0) return;
  await deleteTargetMetrics(
    tx,
    deleted.map(({ message }) => message.targetId),
  );
});

/** @param platforms The platforms that have metrics. */
function onTargetUpdated(platforms: readonly string[]): EventHandler {
  return handleEvents(TargetUpdatedSchema, async (tx, events) => {
    const published = events.filter(({ message }) => message.status === "published");
    if (published.length === 0) return;
    const targetIds = published.map(({ message }) => message.targetId);
    await insertPublishedTargets(tx, { targetIds, platforms, endMs: METRICS_END_MS });
    failpoint("delivery.in-metrics-consumer");
  });
}
