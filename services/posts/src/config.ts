import { fileURLToPath } from "node:url";
import { loadConfig } from "@postrider/shared/config";
import { readBusConfig, readDatabaseConfig, readProcessConfig } from "@postrider/shared/service";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

export function readConfig() {
  return loadConfig(process.env, (read) => ({
    ...readProcessConfig(read, "posts", 8082),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    accountsUrl: read.url("ACCOUNTS_URL", "http://127.0.0.1:8081"),
    mediaServiceUrl: read.url("MEDIA_SERVICE_URL", "http://127.0.0.1:8083"),
    deliveryUrl: read.url("DELIVERY_URL", "http://127.0.0.1:8084"),
    sweepMs: read.seconds("SWEEP_SECONDS", 60),
    sweepAfterMs: read.seconds("SWEEP_AFTER_SECONDS", 120),
    missedAfterMs: read.seconds("MISSED_AFTER_SECONDS", 86_400),
  }));
}

export type Config = ReturnType<typeof readConfig>;
