import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { MAX_VISIBLE_CALL_MS } from "@postrider/platforms/http/platform-request";
import { readPublishingSettings } from "@postrider/platforms/platforms";
import { readAuditDays } from "@postrider/shared/audit/retention";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPeerUrl, readPublicUrl } from "@postrider/shared/config/addresses";
import { readMediaKeys, readMediaUrlMs } from "@postrider/shared/config/media-urls";
import { readDeploymentId } from "@postrider/shared/deployment/ownership";
import { readOutboundRules } from "@postrider/shared/http/outbound-rules";
import type { IdentityName } from "@postrider/shared/identity/names";
import { readTrustConfig } from "@postrider/shared/identity/settings";
import {
  readBusConfig,
  readDatabaseConfig,
  readMigrationSettings,
  readProcessConfig,
} from "@postrider/shared/process/service";
import { readSealingKeys } from "@postrider/shared/secrets/sealing";

/** The parts of the delivery service for which a process can work. */
export const ROLES = ["all", "publishing", "webhooks", "engagement"] as const;

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

function readBreaker(read: EnvReader) {
  return {
    holdAfterUnknowns: read
      .about(
        "Number of publishing calls in a row that a platform must leave unanswered before Postrider stops sending it publishing calls. The calls must belong to at least two accounts. Sending continues when the platform answers a probe. 0 = never stop.",
        { level: "advanced" },
      )
      .integer("PLATFORM_HOLD_AFTER", { default: 5, min: 0 }),
    probeMs: read
      .about(
        "Waits before the first, second … probe of a platform that does not answer. A probe publishes a single target, to find out whether the platform answers again. The last value repeats.",
        { level: "advanced" },
      )
      .secondsList("PLATFORM_PROBE_SECONDS", [5, 30, 120, 300]),
  };
}

function readPublishing(read: EnvReader) {
  return {
    visibleCallMs: read
      .about(
        "Maximum time for the platform call that makes a post visible. If the platform has not answered by then, the outcome of the call is unknown. A call that uploads files gets additional time in proportion to their size.",
        { level: "advanced" },
      )
      .seconds("VISIBLE_CALL_SECONDS", 60, 0.1, MAX_VISIBLE_CALL_MS / 1000),
    leaseMs: read
      .about(
        "Duration of a lease, the time for which one process alone works on something. After a crash, other processes continue the work when the lease ends.",
        { level: "advanced" },
      )
      .seconds("LEASE_SECONDS", 20, 0.1),
    retryMs: read
      .about(
        "Waits before the first, second … retry after a publishing failure that may be temporary. If the last retry fails too, the target fails.",
      )
      .secondsList("PUBLISH_RETRY_SECONDS", [60, 300, 900, 3600, 10_800]),
    accountPauseMs: read
      .about(
        "How long publishing on an account pauses after five or more temporary failures in a row. The first value applies after the fifth failure, the second after the sixth, and so on; the last value repeats. A success starts the count again.",
      )
      .secondsList("ACCOUNT_PAUSE_SECONDS", [60, 300, 900, 1800]),
    ...readBreaker(read),
    maxPerPlatform: read
      .about(
        "Maximum number of targets of one platform that all processes together publish at a time. One workspace gets at most half of it (rounded up). While no other workspace waits, one workspace may publish three times the maximum.",
        { level: "advanced" },
      )
      .integer("MAX_TARGETS_PER_PLATFORM", { default: 64, min: 1 }),
    reconcileTimeScale: read
      .about(
        "Factor for the waits before Postrider searches a platform for a post whose response was lost. With 0.5, it waits half as long. Use values below 1 only in tests, because a post may then be published twice.",
        { level: "tests" },
      )
      .number("RECONCILE_TIME_SCALE", { default: 1, min: 0 }),
  };
}

/** Only platforms are given URLs that this service signs, so other processes have no key. */
function readMedia(read: EnvReader, role: (typeof ROLES)[number]) {
  const isSigning = role === "all" || role === "publishing";
  const [mediaKey] = readMediaKeys(read.when(isSigning));
  return {
    baseUrl: readPeerUrl(read, "media"),
    publicUrl: readPublicUrl(read),
    mediaKey: isSigning ? mediaKey : undefined,
    urlMs: readMediaUrlMs(read),
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
      .about(
        "Maximum number of bytes in `SPOOL_DIR`. A post whose files do not fit waits until there is space.",
        { level: "advanced" },
      )
      .number("SPOOL_MAX_BYTES", { default: 2_000_000_000, min: 1 }),
  };
}

function readWebhooks(read: EnvReader) {
  return {
    retry: {
      waitsMs: read
        .about(
          "Waits before the first, second … retry of a failed webhook delivery. If the last retry fails too, the delivery fails.",
          { level: "advanced" },
        )
        .secondsList(
          "WEBHOOK_RETRY_SECONDS",
          [5, 60, 300, 1800, 7200, 18_000, 36_000, 50_400, 64_800, 86_400],
        ),
      disableAfterMs: read
        .about(
          "How long all attempts of a webhook subscription may fail before Postrider disables the subscription.",
          { level: "advanced" },
        )
        .seconds("WEBHOOK_DISABLE_AFTER_SECONDS", 432_000, 0.1),
    },
    historyDays: read
      .about("Number of days after which webhook events, deliveries and attempts are deleted.")
      .integer("WEBHOOK_HISTORY_DAYS", { default: 30, min: 8 }),
    historyBytes: read
      .about(
        "Maximum size in bytes of a workspace's webhook history (events, deliveries and attempts), before compression. If the history is larger, its oldest finished deliveries are deleted before `WEBHOOK_HISTORY_DAYS` have passed. Waiting deliveries stay.",
        { level: "advanced" },
      )
      .integer("WEBHOOK_HISTORY_BYTES", { default: 1_000_000_000, min: 1 }),
    waiting: {
      perWorkspace: read
        .about(
          "Maximum number of webhook deliveries of a workspace that wait to be sent. Further deliveries fail without an attempt (`backlog_full`) and can be retried. Several processes together may exceed the limit slightly.",
          { level: "advanced" },
        )
        .integer("WEBHOOK_MAX_WAITING", { default: 100_000, min: 1 }),
      perHost: read
        .about("Maximum number of waiting webhook deliveries of a workspace to the same host.", {
          level: "advanced",
        })
        .integer("WEBHOOK_MAX_WAITING_PER_HOST", { default: 50_000, min: 1 }),
    },
    defaultLocale: read
      .about("Language of the API's error messages when a request does not ask for a language.")
      .oneOf("DEFAULT_LOCALE", ["en", "ko"], "en"),
  };
}

function readEngagement(read: EnvReader) {
  return {
    isSendingEnabled:
      read
        .about(
          "Whether automation rules send private replies. With `blocked`, a matching comment is only recorded as an automation run; its reply is never sent, not even after a later change of this setting.",
        )
        .oneOf("AUTOMATION_SENDING", ["blocked", "enabled"], "blocked") === "enabled",
    commentPollMs: read
      .about(
        "Interval at which Postrider reads the new comments of each account that has an automation rule.",
      )
      .seconds("COMMENT_POLL_SECONDS", 60, 0.1),
    isMetricsRefreshOn:
      read
        .about(
          "Whether Postrider refreshes the metrics of published posts on its own: every hour at first, then less often, until a post is 7 days old.",
        )
        .oneOf("METRICS_REFRESH", ["on", "off"], "on") === "on",
    historyDays: read
      .about(
        "Number of days after which ended replies, hidings and private replies and the runs of automation rules are removed. Beyond 1,000,000 of a workspace, the oldest are removed after 40 days. What keeps a comment hidden stays. 36500 keeps all below that number.",
      )
      .integer("ENGAGEMENT_HISTORY_DAYS", { default: 400, min: 40, max: 36_500 }),
    metricsDeferMs: read
      .about(
        "Minimum time between two refreshes of a target's metrics by API requests. A request before that does not ask the platform, and counts the target as `deferred`.",
        { level: "advanced" },
      )
      .seconds("METRICS_DEFER_SECONDS", 300, 0),
  };
}

/** The identity of a process; other services allow it only the RPCs that its role needs. */
const IDENTITY_OF_ROLE = {
  all: "delivery",
  publishing: "delivery",
  webhooks: "delivery-webhooks",
  engagement: "delivery-engagement",
} as const satisfies Readonly<Record<(typeof ROLES)[number], IdentityName>>;

export function readSettings(read: EnvReader) {
  const outbound = readOutboundRules(read);
  const publishing = readPublishing(read);
  const process = readProcessConfig(read, "delivery", 8084);
  const role = read
    .about(
      "Part of the delivery service that a process runs. `all`: all three parts. `engagement`: comments, automations and metrics. In separate processes, slow webhook endpoints and slow reads of comments and metrics cannot delay publishing. Processes with `webhooks` or `engagement` need the keys of the identity `delivery-webhooks` or `delivery-engagement`.",
      { level: "advanced" },
    )
    .oneOf("ROLE", ROLES, "all");
  return {
    ...process,
    identity: { ...process.identity, name: IDENTITY_OF_ROLE[role] },
    ...readTrustConfig(read),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    postsUrl: readPeerUrl(read, "posts"),
    accountsUrl: readPeerUrl(read, "accounts"),
    role,
    deploymentId: readDeploymentId(read),
    auditDays: readAuditDays(read),
    handleKeys: readSealingKeys(
      read.secret(
        "Keys that encrypt two kinds of stored data: webhook signing secrets, and handles (ids and addresses that a platform returns while a post is prepared). Format: `id:key`, separated by commas, newest first; each key is 32 random bytes in base64. The newest key encrypts; all keys decrypt.",
        { level: "needed" },
      ),
      "HANDLE_KEYS",
    ),
    media: readMedia(read, role),
    webhooks: readWebhooks(read),
    spool: readSpool(read),
    outbound,
    platforms: readPublishingSettings(read, outbound),
    publishing,
    engagement: { ...readEngagement(read), ...publishing },
  };
}

export const readConfig = () => loadConfig(process.env, readSettings);

/** Of the migration command, which needs only the database settings. */
export const readMigrationConfig = () => loadConfig(process.env, readMigrationSettings);

export type Config = ReturnType<typeof readConfig>;
