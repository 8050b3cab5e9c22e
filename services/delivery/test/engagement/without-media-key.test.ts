import { createServer } from "node:net";
import { DiagnosticsService } from "@postrider/contracts/operations/v1/diagnostics_service_pb";
import { loadConfig } from "@postrider/shared/config";
import { connectPeer } from "@postrider/shared/connect/client";
import { createTestIdentities } from "@postrider/shared/testing/identities";
import { listen } from "@postrider/shared/testing/listen";
import { expect, test } from "vitest";
import { startApp } from "#src/app.ts";
import { readSettings } from "#src/config.ts";
import { openDatabase } from "../publishing/fixture.ts";

async function freePort(): Promise<number> {
  await using listening = await listen(createServer());
  return listening.port;
}

test("a process that only works on comments and metrics works without the key that signs media URLs, and signs no URL for a diagnosis", async () => {
  await using database = await openDatabase();
  const identities = createTestIdentities();
  const port = await freePort();
  const env = {
    ...identities.env("delivery-engagement"),
    POSTRIDER_ENV: "development",
    DATABASE_URL: database.url,
    PORT: String(port),
    METRICS_PORT: "0",
    LOG_LEVEL: "silent",
    ROLE: "engagement",
    HANDLE_KEYS: `k1:${Buffer.alloc(32, 7).toString("base64")}`,
  };
  await using _app = await startApp(loadConfig(env, readSettings));
  await using peer = connectPeer({
    service: "delivery",
    baseUrl: `http://127.0.0.1:${port}`,
    identity: identities.of("operator"),
  });
  const { findings, probeUrl } = await peer.client(DiagnosticsService).diagnose({});
  expect(findings.length).toBeGreaterThan(0);
  expect(probeUrl).toBe("");
});
