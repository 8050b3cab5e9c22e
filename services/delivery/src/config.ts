import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { readPlatformAddresses } from "@postrider/platforms/addresses";
import { MAX_VISIBLE_CALL_MS } from "@postrider/platforms/publishing/visible-call-time";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPeerUrl, readPublicUrl } from "@postrider/shared/config/addresses";
import { readOutboundAllow } from "@postrider/shared/http/allowed-addresses";
import {
  readBusConfig,
  readDatabaseConfig,
  readProcessConfig,
} from "@postrider/shared/process/service";
import { readSealingKeys } from "@postrider/shared/secrets/sealing-keys";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

function readPlatforms(read: EnvReader) {
  const { graphVersion: version, ...at } = readPlatformAddresses(read);
  return {
    x: {
      baseUrl: at.x.api,
      mayResend:
        read
          .about(
            "Whether a post on x whose answer was lost is sent once more after the account's timeline did not show it; `off` leaves it as `outcome_unknown`.",
            { level: "advanced" },
          )
          .oneOf("X_RESEND", ["on", "off"], "on") === "on",
    },
    tiktok: { baseUrl: at.tiktok.api },
    telegram: { baseUrl: at.telegram.api },
    bluesky: {
      baseUrl: at.bluesky.api,
      outboundAllow: readOutboundAllow(read),
      videoBaseUrl: read
        .about("Address of Bluesky's video service; accounts on every server use the same one.", {
          level: "advanced",
        })
        .url("BLUESKY_VIDEO_BASE_URL", "https://video.bsky.app"),
    },
    youtube: { baseUrl: at.youtube.api },
    instagram: {
      baseUrl: at.instagram.api,
      loginBaseUrl: at.instagram.login.api,
      uploadBaseUrl: at.instagram.upload,
      version,
    },
    facebook: {
      baseUrl: at.facebook.api,
      uploadBaseUrl: at.facebook.upload,
      version,
      isTwoPhase:
        read
          .about(
            "Whether Page posts are created unpublished first, so that a lost answer cannot cause a second post; `off` for Pages that do not allow it.",
            { level: "advanced" },
          )
          .oneOf("FACEBOOK_TWO_PHASE", ["on", "off"], "on") === "on",
    },
  };
}

function readPublishing(read: EnvReader) {
  const maxPerPlatform = read
    .about(
      "Maximum number of targets of one platform in work at a time, in all processes together; at most half of them belong to one workspace.",
      { level: "advanced" },
    )
    .integer("MAX_TARGETS_PER_PLATFORM", { default: 64, min: 1 });
  return {
    visibleCallMs: read
      .about("Deadline of the call that makes a post visible; uploads get more, by their size.", {
        level: "advanced",
      })
      .seconds("VISIBLE_CALL_SECONDS", 60, 0.1, MAX_VISIBLE_CALL_MS / 1000),
    leaseMs: read
      .about("How long work of a crashed process stays reserved before another process takes it.", {
        level: "advanced",
      })
      .seconds("LEASE_SECONDS", 60, 0.1),
    retryMs: read
      .about("Waits between attempts after failures that may be temporary.")
      .secondsList("PUBLISH_RETRY_SECONDS", [60, 300, 900, 3600, 10_800]),
    accountPauseMs: read
      .about(
        "How long an account is paused after five temporary failures in a row, and after the next five.",
      )
      .secondsList("ACCOUNT_PAUSE_SECONDS", [60, 300, 900, 1800]),
    maxPerPlatform,
    maxPerWorkspace: Math.ceil(maxPerPlatform / 2),
    reconcileTimeScale: read
      .about(
        "Factor for the waits before a platform is searched for a post whose answer was lost; the guarantees hold with 1.",
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
        "Signs the addresses of media; the same in gateway and delivery. The first signs and all are accepted, so that it can be rotated without downtime.",
        { level: "needed" },
      )
      .secrets("MEDIA_KEY", 32)[0],
    urlMs: read
      .about("How long a signed address of media is valid.", { level: "advanced" })
      .seconds("MEDIA_URL_SECONDS", 86_400, 1),
  };
}

function readSpool(read: EnvReader) {
  return {
    folder: read
      .about("Folder for files on their way to a platform.", {
        level: "advanced",
        default: "the system's temporary folder",
      })
      .string("SPOOL_DIR", { default: tmpdir() }),
    maxBytes: read
      .about("Maximum number of bytes in `SPOOL_DIR`; further posts with files wait.", {
        level: "advanced",
      })
      .number("SPOOL_MAX_BYTES", { default: 2_000_000_000, min: 1 }),
  };
}

export function readSettings(read: EnvReader) {
  return {
    ...readProcessConfig(read, "delivery", 8084),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    postsUrl: readPeerUrl(read, "posts"),
    accountsUrl: readPeerUrl(read, "accounts"),
    deploymentId: read
      .about(
        "Name of this deployment. If it differs from the name in the database, the data is a copy: nothing is published until `postrider recovery adopt`.",
      )
      .string("DEPLOYMENT_ID", { default: "default" }),
    handleKeys: readSealingKeys(
      read.secret(
        "Keys that encrypt what platforms return while a post is prepared, such as upload addresses, as `kid:base64-of-32-bytes`, newest first. The newest encrypts, all decrypt.",
        { level: "needed" },
      ),
      "HANDLE_KEYS",
    ),
    media: readMedia(read),
    spool: readSpool(read),
    platforms: readPlatforms(read),
    publishing: readPublishing(read),
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

/** The configuration of the migration command, which needs only the database. */
export function readMigrationConfig() {
  return loadConfig(process.env, readDatabaseConfig);
}

export type Config = ReturnType<typeof readConfig>;
