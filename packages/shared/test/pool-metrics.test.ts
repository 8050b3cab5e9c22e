import { afterAll, expect, test } from "vitest";
import { watchDatabase, watchPool } from "#src/postgres/watch.ts";
import { renderMetrics } from "#src/telemetry/metrics.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase } from "./test-service.ts";

const database = await createDatabase();

afterAll(() => database[Symbol.asyncDispose]());

test("the metrics show the size of every connection pool of a process, and how long statements wait for each", async () => {
  const { sql, ownerSql } = database;
  await using _main = watchDatabase(sql, 5);
  await using _further = watchPool(ownerSql, "webhooks", 2);

  const body = await eventually(async () => {
    const metrics = await renderMetrics();
    const waits = metrics.body.match(/^database_pool_wait_seconds\{.*$/gm) ?? [];
    return waits.length >= 2 && metrics.body;
  });

  expect(body).toContain('database_pool_size{pool="main"} 5');
  expect(body).toContain('database_pool_size{pool="webhooks"} 2');
  expect(body).toMatch(/^database_pool_wait_seconds\{pool="main"\} \d/m);
  expect(body).toMatch(/^database_pool_wait_seconds\{pool="webhooks"\} \d/m);
});
