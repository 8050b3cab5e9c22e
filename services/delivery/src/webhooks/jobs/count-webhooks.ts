import type { Sql } from "@postrider/shared/postgres";
import { startLoop, type Loop } from "@postrider/shared/process/loop";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { createAgeGauge, createGauge } from "@postrider/shared/telemetry/metrics";
import { countWebhooks } from "#src/webhooks/db/webhook-counts.ts";
import { CIRCUIT_AFTER } from "#src/webhooks/domain/lane-state.ts";

const EVERY_MS = 15_000;

const queued = createGauge(
  "webhook_queue_deliveries",
  "Webhook deliveries of all processes that wait, by whether they are due or wait for a retry, up to 100,000.",
  ["state"],
);
const oldest = createAgeGauge(
  "webhook_oldest_due_seconds",
  "How long the oldest webhook delivery has been due that may be sent.",
);
const openCircuits = createGauge(
  "webhook_open_circuits",
  "Webhook subscriptions whose receiver did not answer 10 attempts in a row.",
);
const disabled = createGauge(
  "webhook_disabled_subscriptions",
  "Webhook subscriptions that are disabled.",
);

async function count(sql: Sql): Promise<void> {
  const counts = await countWebhooks(sql, CIRCUIT_AFTER);
  queued.set({ state: "due" }, counts.due);
  queued.set({ state: "waiting" }, Math.max(0, counts.queued - counts.due));
  oldest.set({}, counts.oldestDueAt ?? undefined);
  openCircuits.set(counts.openCircuits);
  disabled.set(counts.disabled);
}

/** Counts the waiting webhook deliveries of all processes for the metrics until it is disposed of. */
export function startCountWebhooks(options: { readonly sql: Sql; readonly logger: Logger }): Loop {
  return startLoop({
    idleMs: EVERY_MS,
    work: async () => {
      await count(options.sql);
      return EVERY_MS;
    },
    onError: (error) =>
      options.logger.debug(
        { err: error },
        "webhook deliveries could not be counted; the metrics keep their last values",
      ),
  });
}
