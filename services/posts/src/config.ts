import { fileURLToPath } from "node:url";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPeerUrl } from "@postrider/shared/config/addresses";
import { readDeploymentId } from "@postrider/shared/deployment/ownership";
import { readTrustConfig } from "@postrider/shared/identity/settings";
import {
  readBusConfig,
  readDatabaseConfig,
  readMigrationSettings,
  readProcessConfig,
} from "@postrider/shared/process/service";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

export function readSettings(read: EnvReader) {
  return {
    ...readProcessConfig(read, "posts", 8082),
    ...readTrustConfig(read),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    deploymentId: readDeploymentId(read),
    accountsUrl: readPeerUrl(read, "accounts"),
    mediaServiceUrl: readPeerUrl(read, "media"),
    deliveryUrl: readPeerUrl(read, "delivery"),
    sweepMs: read
      .about(
        "Interval at which the posts service asks the delivery service about targets without a recent update.",
        {
          level: "advanced",
        },
      )
      .seconds("SWEEP_SECONDS", 60),
    sweepAfterMs: read
      .about(
        "How long a target whose outcome is not known may be without an update before the posts service asks the delivery service about it.",
        {
          level: "advanced",
        },
      )
      .seconds("SWEEP_AFTER_SECONDS", 120),
    missedAfterMs: read
      .about(
        "How long after its scheduled time the publishing of a post may still start. After that the post fails with the error `missed`.",
      )
      .seconds("MISSED_AFTER_SECONDS", 86_400),
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

export function readMigrationConfig() {
  return loadConfig(process.env, readMigrationSettings);
}

export type Config = ReturnType<typeof readConfig>;
