import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
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

/** Where the platforms answer; only tests and the simulator move them. */
function readPlatforms(read: EnvReader) {
  const api = read.about("Where the API of the platform answers.");
  const uploads = read.about("Where the platform takes uploads.");
  const version = read.about("Version of the Graph API.");
  return {
    x: {
      baseUrl: api.url("X_BASE_URL", "https://api.x.com"),
      mayResend:
        read
          .about(
            "Whether a post on x whose answer was lost is sent once more when the account's timeline does not show it; `off` leaves it as `outcome_unknown`.",
          )
          .oneOf("X_RESEND", ["on", "off"], "on") === "on",
    },
    tiktok: { baseUrl: api.url("TIKTOK_BASE_URL", "https://open.tiktokapis.com") },
    telegram: { baseUrl: api.url("TELEGRAM_BASE_URL", "https://api.telegram.org") },
    bluesky: {
      baseUrl: api.url("BLUESKY_BASE_URL", "https://bsky.social"),
      outboundAllow: readOutboundAllow(
        read.about(
          "Private addresses that imports and the cards of links may reach all the same, as `ip:port` or `ip:port-port`.",
        ),
      ),
      videoBaseUrl: uploads.url("BLUESKY_VIDEO_BASE_URL", "https://video.bsky.app"),
    },
    // The API and the uploads are on the same host.
    youtube: { baseUrl: api.url("YOUTUBE_BASE_URL", "https://www.googleapis.com") },
    instagram: {
      baseUrl: api.url("INSTAGRAM_BASE_URL", "https://graph.facebook.com"),
      loginBaseUrl: api.url("INSTAGRAM_LOGIN_BASE_URL", "https://graph.instagram.com"),
      uploadBaseUrl: uploads.url("INSTAGRAM_UPLOAD_BASE_URL", "https://rupload.facebook.com"),
      version: version.string("INSTAGRAM_API_VERSION", { default: "v25.0" }),
    },
    facebook: {
      baseUrl: api.url("FACEBOOK_BASE_URL", "https://graph.facebook.com"),
      uploadBaseUrl: uploads.url("FACEBOOK_UPLOAD_BASE_URL", "https://rupload.facebook.com"),
      version: version.string("FACEBOOK_API_VERSION", { default: "v25.0" }),
      isTwoPhase:
        read
          .about(
            "Whether Page posts are made unpublished first, which makes a lost answer harmless; `off` for Pages that cannot publish them.",
          )
          .oneOf("FACEBOOK_TWO_PHASE", ["on", "off"], "on") === "on",
    },
  };
}

function readPublishing(read: EnvReader) {
  return {
    visibleCallMs: read
      .about(
        "How long the call may last that makes a post visible; uploads get more by their size.",
      )
      .seconds("VISIBLE_CALL_SECONDS", 60, 0.1, MAX_VISIBLE_CALL_MS / 1000),
    leaseMs: read
      .about("How long work of a process that died is left to it.")
      .seconds("LEASE_SECONDS", 60, 0.1),
    retryMs: read
      .about("Waits between tries after failures that may pass.")
      .secondsList("PUBLISH_RETRY_SECONDS", [60, 300, 900, 3600, 10_800]),
    accountPauseMs: read
      .about(
        "How long an account rests after five such failures in a row, and after the next five.",
      )
      .secondsList("ACCOUNT_PAUSE_SECONDS", [60, 300, 900, 1800]),
    maxPerPlatform: read
      .about(
        "Targets of one platform that are worked on at a time, over all processes, so that one that hangs keeps nobody else waiting.",
      )
      .integer("MAX_TARGETS_PER_PLATFORM", { default: 64, min: 1 }),
    maxPerWorkspace: read
      .about("How many of those may belong to one workspace.")
      .integer("MAX_TARGETS_PER_WORKSPACE", { default: 32, min: 1 }),
    reconcileTimeScale: read
      .about(
        "Stretches all waits of looking for lost answers. Tests only: the promises hold with 1.",
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
        "Signs the addresses of media; gateway and delivery have the same. The first signs, all are accepted, so that it can be changed while everything runs.",
      )
      .secrets("MEDIA_KEY", 32)[0],
    urlMs: read
      .about("How long an address of media is good.")
      .seconds("MEDIA_URL_SECONDS", 86_400, 1),
  };
}

function readSpool(read: EnvReader) {
  return {
    folder: read
      .about("Where files are on their way to a platform.", "the system's folder")
      .string("SPOOL_DIR", { default: tmpdir() }),
    maxBytes: read
      .about("Bytes in it at a time, at most; further posts with files wait.")
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
        "Name of this deployment. Another one than the data's makes it a copy, which publishes nothing until it is adopted.",
      )
      .string("DEPLOYMENT_ID", { default: "default" }),
    handles: {
      keys: readSealingKeys(
        read.secret(
          "Seal what platforms returned on the way to a post, upload addresses above all: `kid:base64-of-32-bytes`, newest first.",
        ),
        "HANDLE_KEYS",
      ),
      isOn:
        read
          .about("`off` while a release that cannot open sealed handles works beside this one.")
          .oneOf("HANDLE_SEALING", ["on", "off"], "on") === "on",
    },
    media: readMedia(read),
    spool: readSpool(read),
    platforms: readPlatforms(read),
    publishing: readPublishing(read),
  };
}

export function readConfig() {
  return loadConfig(process.env, readSettings);
}

/** Migrating needs the database, and is told nothing else. */
export function readMigrationConfig() {
  return loadConfig(process.env, readDatabaseConfig);
}

export type Config = ReturnType<typeof readConfig>;
