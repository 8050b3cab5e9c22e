import { createTestDatabase } from "@postrider/shared/testing/database";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { startApp } from "#src/app.ts";
import { MIGRATIONS } from "#src/config.ts";

test("the posts service starts and relays its outbox while the other services are unavailable", async () => {
  await using database = await createTestDatabase({
    service: "posts",
    migrationsFolder: MIGRATIONS,
  });
  const identities = createTestIdentities();
  const nowhere = "http://127.0.0.1:9";
  await using app = await startApp({
    service: "posts",
    host: "127.0.0.1",
    port: 0,
    metricsPort: 0,
    identity: identities.of("posts"),
    ...identities.trust,
    logLevel: "silent",
    failpointsDir: undefined,
    databaseUrl: database.url,
    databasePoolSize: 4,
    databasePrepare: true,
    deploymentId: "test",
    bus: "postgres",
    kafkaBrokers: [],
    accountsUrl: nowhere,
    mediaServiceUrl: nowhere,
    deliveryUrl: nowhere,
    sweepMs: 60_000,
    sweepAfterMs: 120_000,
    missedAfterMs: 86_400_000,
    retentionDays: 400,
    auditDays: 400,
  });
  await database.sql`
    insert into outbox (event_id, type, key, payload, headers)
    values (gen_random_uuid(), 'postrider.posts.v1.PostFailed', 'key', '{}', '{}')`;

  await eventually(async () => {
    const [row] = await database.sql<{ count: number }[]>`
      select count(*)::int as count from bus.records where topic = 'posts.events.v1'`;
    expect(row?.count).toBe(1);
  });
  expect(app.logger).toBeDefined();
});
