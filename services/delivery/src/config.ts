import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { MAX_VISIBLE_CALL_MS } from "@postrider/platforms/http/platform-request";
import { readPublishingSettings } from "@postrider/platforms/publishing/settings";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPeerUrl, readPublicUrl } from "@postrider/shared/config/addresses";
import { readOutboundRules } from "@postrider/shared/http/outbound-rules";
import { readTrustConfig } from "@postrider/shared/identity/settings";
import {
  readBusConfig,
  readDatabaseConfig,
  readMigrationSettings,
  readProcessConfig,
} from "@postrider/shared/process/service";
import { readSealingKeys } from "@postrider/shared/secrets/sealing-keys";

/** The parts of the delivery service for which a process can work. */
export const ROLES = ["all", "publishing", "webhooks", "engagement"] as const;

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

function readBrake(read: EnvReader) {
  return {
    holdAfterUnknowns: read
      .about(
        "Number of publishing calls in a row that a platform leaves without an answer, of at least two accounts, after which Postrider holds the platform's targets back. 0 never holds them back.",
        { level: "advanced" },
      )
      .integer("PLATFORM_HOLD_AFTER", { default: 5, min: 0 }),
    probeMs: read
      .about(
        "Waits before one target of a platform whose targets are held back is sent, to find out whether the platform answers again: before the first try, the second, and so on.",
        { level: "advanced" },
      )
      .secondsList("PLATFORM_PROBE_SECONDS", [5, 30, 120, 300]),
  };
}

function readPublishing(read: EnvReader) {
  const maxPerPlatform = read
    .about(
      "Maximum number of targets of one platform that all processes together publish at a time. One workspace can use at most half of them.",
      { level: "advanced" },
    )
    .integer("MAX_TARGETS_PER_PLATFORM", { default: 64, min: 1 });
  return {
    visibleCallMs: read
      .about(
        "Deadline of the platform call that makes a post visible. A call that uploads files gets additional time in proportion to their size.",
        {
          level: "advanced",
        },
      )
      .seconds("VISIBLE_CALL_SECONDS", 60, 0.1, MAX_VISIBLE_CALL_MS / 1000),
    leaseMs: read
      .about(
        "Duration of a lease: how long after the crash of a process its work stays reserved before another process takes it over.",
        {
          level: "advanced",
        },
      )
      .seconds("LEASE_SECONDS", 20, 0.1),
    retryMs: read
      .about("Waits between the attempts to publish a target after failures that may be temporary.")
      .secondsList("PUBLISH_RETRY_SECONDS", [60, 300, 900, 3600, 10_800]),
    accountPauseMs: read
      .about(
        "How long an account is paused after five temporary failures in a row: the first value after the first five, the next value after the next five, and so on.",
      )
      .secondsList("ACCOUNT_PAUSE_SECONDS", [60, 300, 900, 1800]),
    ...readBrake(read),
    maxPerPlatform,
    maxPerWorkspace: Math.ceil(maxPerPlatform / 2),
    reconcileTimeScale: read
      .about(
        "Factor for the waits before Postrider searches a platform for a post whose response was lost. With a value below 1, a post may be published twice; use it only in tests.",
        { level: "tests" },
      )
      .number("RECONCILE_TIME_SCALE", { default: 1, min: 0 }),
  };
}

function readMedia(read: EnvReader) {
  return {
    baseUrl: readPeerUrl(read, "media"),
    publicUrl: readPublicUrl(read),
    mediaKey: read
      .secret(
        "Keys that sign the addresses of media; the gateway and the delivery service need the same list. The first key signs and all are accepted, so they can be rotated without downtime.",
        { level: "needed" },
      )
      .secrets("MEDIA_KEY", 32)[0],
    urlMs: read
      .about("How long a signed address of a media file is valid.", { level: "advanced" })
      .seconds("MEDIA_URL_SECONDS", 86_400, 1),
  };
}

function readSpool(read: EnvReader) {
  return {
    folder: read
      .about("Temporary folder of the delivery service for files that it sends to platforms.", {
        level: "advanced",
        default: "the system's temporary folder",
      })
      .string("SPOOL_DIR", { default: tmpdir() }),
    maxBytes: read
      .about("Maximum number of bytes in `SPOOL_DIR`. Posts whose files do not fit wait.", {
        level: "advanced",
      })
      .number("SPOOL_MAX_BYTES", { default: 2_000_000_000, min: 1 }),
  };
}

function readWebhooks(read: EnvReader) {
  return {
    retry: {
      waitsMs: read
        .about("Waits between the attempts to deliver a webhook event after failures.", {
          level: "advanced",
        })
        .secondsList(
          "WEBHOOK_RETRY_SECONDS",
          [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 64_800, 86_400],
        ),
      disableAfterMs: read
        .about(
          "How long a webhook subscription may have nothing but failures before it is disabled.",
          { level: "advanced" },
        )
        .seconds("WEBHOOK_DISABLE_AFTER_SECONDS", 432_000, 0.1),
    },
    historyDays: read
      .about("Number of days for which webhook events, deliveries and attempts can be read.")
      .integer("WEBHOOK_HISTORY_DAYS", { default: 30, min: 8 }),
    defaultLocale: read
      .about("Language of error messages for clients that do not ask for one.")
      .oneOf("DEFAULT_LOCALE", ["en", "ko"], "en"),
  };
}

function readEngagement(read: EnvReader) {
  return {
    isSendingEnabled:
      read
        .about(
          "Whether automations send private replies. With `blocked`, a run ends before anything is sent.",
        )
        .oneOf("AUTOMATION_SENDING", ["blocked", "enabled"], "blocked") === "enabled",
    commentPollMs: read
      .about("Interval at which automations look for new comments of an account.")
      .seconds("COMMENT_POLL_SECONDS", 60, 0.1),
    isMetricsRefreshOn:
      read
        .about(
          "Whether the metrics of published posts are refreshed without a request: every hour at first, then less often, until a post is 7 days old.",
        )
        .oneOf("METRICS_REFRESH", ["on", "off"], "on") === "on",
    metricsDeferMs: read
      .about("Minimum time between two requests to refresh the metrics of a post.", {
        level: "advanced",
      })
      .seconds("METRICS_DEFER_SECONDS", 300, 0),
  };
}

export function readSettings(read: EnvReader) {
  const outbound = readOutboundRules(read);
  const publishing = readPublishing(read);
  return {
    ...readProcessConfig(read, "delivery", 8084),
    ...readTrustConfig(read),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    postsUrl: readPeerUrl(read, "posts"),
    accountsUrl: readPeerUrl(read, "accounts"),
    role: read
      .about(
        "What a process of the delivery service works for. `all` is one process for everything; separate processes keep slow endpoints of customers and slow reads of metrics and comments from delaying publishing.",
        { level: "advanced" },
      )
      .oneOf("ROLE", ROLES, "all"),
    deploymentId: read
      .about(
        "Name of this deployment. If the database is marked with another name, Postrider considers its data a copy and publishes nothing until an operator runs `postrider recovery adopt`.",
      )
      .string("DEPLOYMENT_ID", { default: "default" }),
    handleKeys: readSealingKeys(
      read.secret(
        "Keys that encrypt signing secrets of webhooks, and ids and addresses that platforms return before a post is visible, as `kid:base64-of-32-bytes`, newest first. The newest key encrypts, all keys decrypt.",
        { level: "needed" },
      ),
      "HANDLE_KEYS",
    ),
    media: readMedia(read),
    webhooks: readWebhooks(read),
    spool: readSpool(read),
    outbound,
    platforms: readPublishingSettings(read, outbound),
    publishing,
    engagement: { ...readEngagement(read), ...publishing },
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

/** Reads the configuration of the migration command, which needs only the database settings. */
export function readMigrationConfig() {
  return loadConfig(process.env, readMigrationSettings);
}

export type Config = ReturnType<typeof readConfig>;
