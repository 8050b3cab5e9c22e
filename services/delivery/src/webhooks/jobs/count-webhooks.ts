import type { Sql } from "@postrider/shared/postgres";
import type { Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createAgeGauge, createGauge } from "@postrider/shared/telemetry/metrics";
import { startCount } from "#src/operations/start-count.ts";
import { countWebhooks } from "#src/webhooks/db/counts.ts";
import { countPartitions } from "#src/webhooks/db/partitions.ts";
import { BREAKER_OPENS_AFTER } from "#src/webhooks/domain/receiver-state.ts";

/**
 * The job keep-partitions creates them for one day more, once an hour, so a partition is missing
 * only if the job has failed for about a day.
 */
const PARTITION_DAYS = 13;

const queued = createGauge(
  "webhook_queue_deliveries",
  "Webhook deliveries of all processes that wait, by whether they are due or wait for a retry, up to 100,000.",
  ["state"],
);
const oldest = createAgeGauge(
  "webhook_oldest_due_seconds",
  "How long the oldest webhook delivery has been due that may be sent.",
);
const openBreakers = createGauge(
  "webhook_open_breakers",
  "Webhook subscriptions whose receiver did not answer 10 attempts in a row.",
);
const disabled = createGauge(
  "webhook_disabled_subscriptions",
  "Webhook subscriptions that are disabled.",
);

const unwritten = createGauge(
  "webhook_unwritten_payloads",
  "Webhook events of all processes whose payload is not written yet, up to 100,000.",
);
const oldestUnwritten = createAgeGauge(
  "webhook_oldest_unwritten_payload_seconds",
  "How long ago the oldest webhook event happened whose payload is not written yet.",
);
const missingPartitions = createGauge(
  "webhook_partitions_missing",
  "Partitions of the webhooks' history that do not exist yet for today and the next 13 days.",
);
const overduePartitions = createGauge(
  "webhook_partitions_overdue",
  "Partitions of the webhooks' history that are older than WEBHOOK_HISTORY_DAYS and should have been dropped.",
);

interface CountOptions {
  readonly sql: Sql;
  readonly logger: Logger;
  readonly historyDays: number;
}

/** Sets the gauges for the whole installation once. */
export async function measureWebhooks({
  sql,
  historyDays,
}: Omit<CountOptions, "logger">): Promise<void> {
  const counts = await countWebhooks(sql, BREAKER_OPENS_AFTER);
  queued.set({ state: "due" }, counts.due);
  queued.set({ state: "waiting" }, Math.max(0, counts.queued - counts.due));
  oldest.set({}, counts.oldestDueAt ?? undefined);
  openBreakers.set(counts.openBreakers);
  disabled.set(counts.disabled);
  unwritten.set(counts.unwritten);
  oldestUnwritten.set({}, counts.oldestUnwrittenAt ?? undefined);
  const partitions = await countPartitions(sql, { daysAfter: PARTITION_DAYS, historyDays });
  missingPartitions.set(partitions.missing);
  overduePartitions.set(partitions.overdue);
}

export function startCountWebhooks({ logger, ...options }: CountOptions): Loop {
  return startCount({
    logger,
    what: "webhook deliveries",
    measure: () => measureWebhooks(options),
  });
}
