import { createServer } from "node:net";
import { MetricsService } from "@postrider/contracts/engagement/v1/metrics_service_pb";
import { loadConfig } from "@postrider/shared/config";
import { connectPeer } from "@postrider/shared/connect/client";
import { newId } from "@postrider/shared/ids";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { listen } from "@postrider/shared/testing/listen";
import { eventually } from "@postrider/shared/testing/poll";
import { expect, test } from "vitest";
import { startApp } from "#src/app.ts";
import { readSettings } from "#src/config.ts";
import { openDatabase } from "../publishing/fixture.ts";

async function freePort(): Promise<number> {
  await using listening = await listen(createServer());
  return listening.port;
}

test("RPCs that read metrics leave the connections of publishing free, however many of them wait for the database", async () => {
  await using database = await openDatabase();
  const identities = createTestIdentities();
  const port = await freePort();
  const config = loadConfig(
    {
      ...identities.env("delivery"),
      POSTRIDER_ENV: "development",
      DATABASE_URL: database.url,
      PORT: String(port),
      METRICS_PORT: "0",
      LOG_LEVEL: "silent",
      ROLE: "publishing",
      MEDIA_KEY: "m".repeat(32),
      HANDLE_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
    },
    readSettings,
  );
  await using _app = await startApp(config);
  await using peer = connectPeer({
    service: "delivery",
    baseUrl: `http://127.0.0.1:${port}`,
    identity: identities.of("gateway"),
  });
  const metrics = peer.client(MetricsService);
  const { ownerSql, migrationSql } = database;
  let calls: Promise<unknown>[] = [];
  await migrationSql.begin(async (tx) => {
    await tx`lock table target_metrics in access exclusive mode`;
    const range = { from: "2026-11-01", to: "2026-11-30" };
    calls = Array.from({ length: 20 }, () =>
      metrics.sumMetrics({ workspaceId: newId(), ...range }),
    );
    await eventually(async () => {
      const waiting = await ownerSql<{ name: string; count: number }[]>`
        select application_name as name, count(*)::int as count
        from pg_stat_activity
        where datname = current_database()
        and wait_event_type = 'Lock'
        group by 1`;
      expect([...waiting]).toEqual([{ name: "delivery-engagement", count: 4 }]);
    });
  });
  expect(await Promise.all(calls)).toHaveLength(20);
});
