import { fileURLToPath } from "node:url";
import { readAuditDays } from "@postrider/shared/audit/retention";
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
    auditDays: readAuditDays(read),
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
        "How long the posts service waits for an update of an unfinished target before it asks the delivery service about the target.",
        {
          level: "advanced",
        },
      )
      .seconds("SWEEP_AFTER_SECONDS", 120),
    missedAfterMs: read
      .about(
        "Maximum delay between the scheduled time of a post and the start of its publishing. A post that is not started by then fails with the error `missed`.",
      )
      .seconds("MISSED_AFTER_SECONDS", 86_400),
    retentionDays: read
      .about(
        "Number of days after its last change at which an ended post is removed, with its targets and attempts. Drafts and scheduled posts stay. 36500 keeps all posts.",
      )
      // The quota counters of the post's month are no longer in use then.
      .integer("POST_RETENTION_DAYS", { default: 400, min: 40, max: 36_500 }),
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

export function readMigrationConfig() {
  return loadConfig(process.env, readMigrationSettings);
}

export type Config = ReturnType<typeof readConfig>;
