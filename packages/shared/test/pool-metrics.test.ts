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

  // Other files of this worker leave the values of their pools in the same registry.
  const body = await eventually(async () => {
    const metrics = await renderMetrics();
    const measured = ["main", "webhooks"].every((pool) =>
      new RegExp(`^database_pool_wait_seconds\\{pool="${pool}"\\} \\d`, "m").test(metrics.body),
    );
    return measured && metrics.body;
  });

  expect(body).toContain('database_pool_size{pool="main"} 5');
  expect(body).toContain('database_pool_size{pool="webhooks"} 2');
});
