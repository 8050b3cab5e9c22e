import { deriveTimedId } from "@postrider/shared/ids";
import { renderMetrics } from "@postrider/shared/telemetry/metrics";
import { createTestDatabase, type TestDatabase } from "@postrider/shared/testing/database";
import { afterEach, beforeEach, expect, test } from "vitest";
import { MIGRATIONS } from "#src/config.ts";
import { measureWebhooks } from "#src/webhooks/jobs/count-webhooks.ts";
import { createMissingPartitions } from "#src/webhooks/jobs/keep-partitions.ts";

let database: TestDatabase;
beforeEach(async () => {
  database = await createTestDatabase({
    service: "delivery",
    migrationsFolder: MIGRATIONS,
    poolSize: 2,
  });
});
afterEach(() => database[Symbol.asyncDispose]());

/** Refreshes the metrics of webhooks, and returns the value of a metric without labels. */
async function measure(name: string): Promise<number> {
  await measureWebhooks({ sql: database.sql, historyDays: 30 });
  const { body } = await renderMetrics();
  const line = body.split("\n").find((each) => each.startsWith(`${name} `));
  return Number(line?.slice(name.length));
}

test("webhook_partitions_missing counts the partitions of the next two weeks that do not exist", async () => {
  expect(await measure("webhook_partitions_missing")).toBe(3 * 14);
  await database.sql`select create_day_partitions('webhook_events', current_date, current_date + 12)`;
  expect(await measure("webhook_partitions_missing")).toBe(3 * 14 - 13);
  await createMissingPartitions(database);
  expect(await measure("webhook_partitions_missing")).toBe(0);
});

test("webhook_partitions_overdue counts the partitions that should have been dropped more than a day ago", async () => {
  await database.sql`select create_day_partitions('webhook_events', current_date - 31, current_date)`;
  expect(await measure("webhook_partitions_overdue")).toBe(0);
  await database.sql`select create_day_partitions('webhook_events', current_date - 33, current_date)`;
  expect(await measure("webhook_partitions_overdue")).toBe(2);
});

test("the metrics of webhooks say how many events wait for their payload, and since when", async () => {
  await createMissingPartitions(database);
  expect(await measure("webhook_oldest_unwritten_payload_seconds")).toBe(0);
  for (const minutes of [10, 1]) {
    const occurredAt = new Date(Date.now() - minutes * 60_000);
    const id = deriveTimedId(occurredAt, "an id");
    await database.sql`
      insert into webhook_compositions (event_id, workspace_id, type, occurred_at, sequence, source, cause, subscription_ids)
      values (${id}, ${id}, 'post.published', ${occurredAt}, 1, '{}', '{}', '{}')`;
  }

  expect(await measure("webhook_unwritten_payloads")).toBe(2);
  expect(await measure("webhook_oldest_unwritten_payload_seconds")).toBeGreaterThanOrEqual(600);
});
