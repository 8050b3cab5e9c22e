import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { loadConfig } from "@postrider/shared/config";
import { readSealingKeys } from "@postrider/shared/sealing-keys";
import { readBusConfig, readDatabaseConfig, readProcessConfig } from "@postrider/shared/service";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

export function readConfig() {
  return loadConfig(process.env, (read) => ({
    ...readProcessConfig(read, "delivery", 8084),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    postsUrl: read.url("POSTS_URL", "http://127.0.0.1:8082"),
    accountsUrl: read.url("ACCOUNTS_URL", "http://127.0.0.1:8081"),
    /** Another one than the data's makes it a copy, which publishes nothing until it is adopted. */
    deploymentId: read.string("DEPLOYMENT_ID", { default: "default" }),
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
    media: {
      baseUrl: read.url("MEDIA_SERVICE_URL", "http://127.0.0.1:8083"),
      /** Where platforms reach the gateway, to fetch media. */
      publicUrl: read.url("PUBLIC_URL", "http://127.0.0.1:8080"),
      mediaKey: read.string("MEDIA_KEY", { minLength: 32 }),
      urlMs: read.seconds("MEDIA_URL_SECONDS", 86_400),
    },
    spool: {
      folder: read.string("SPOOL_DIR", { default: tmpdir() }),
      maxBytes: read.number("SPOOL_MAX_BYTES", { default: 2_000_000_000, min: 1 }),
    },
    platforms: {
      xBaseUrl: read.url("X_BASE_URL", "https://api.x.com"),
      tiktokBaseUrl: read.url("TIKTOK_BASE_URL", "https://open.tiktokapis.com"),
      telegramBaseUrl: read.url("TELEGRAM_BASE_URL", "https://api.telegram.org"),
      blueskyBaseUrl: read.url("BLUESKY_BASE_URL", "https://bsky.social"),
      blueskyVideoBaseUrl: read.url("BLUESKY_VIDEO_BASE_URL", "https://video.bsky.app"),
      /** The API and the uploads answer on one host. */
      youtubeBaseUrl: read.url("YOUTUBE_BASE_URL", "https://www.googleapis.com"),
      instagram: {
        baseUrl: read.url("INSTAGRAM_BASE_URL", "https://graph.facebook.com"),
        uploadBaseUrl: read.url("INSTAGRAM_UPLOAD_BASE_URL", "https://rupload.facebook.com"),
        version: read.string("INSTAGRAM_API_VERSION", { default: "v25.0" }),
      },
      facebook: {
        baseUrl: read.url("FACEBOOK_BASE_URL", "https://graph.facebook.com"),
        uploadBaseUrl: read.url("FACEBOOK_UPLOAD_BASE_URL", "https://rupload.facebook.com"),
        version: read.string("FACEBOOK_API_VERSION", { default: "v25.0" }),
        isTwoPhase: read.oneOf("FACEBOOK_TWO_PHASE", ["on", "off"], "on") === "on",
      },
      xMayResend: read.oneOf("X_RESEND", ["on", "off"], "on") === "on",
    },
    publishing: {
      visibleCallMs: read.seconds("VISIBLE_CALL_SECONDS", 60, 0.1),
      leaseMs: read.seconds("LEASE_SECONDS", 60, 0.1),
      retryMs: read.secondsList("PUBLISH_RETRY_SECONDS", [60, 300, 900, 3600, 10_800]),
      accountPauseMs: read.secondsList("ACCOUNT_PAUSE_SECONDS", [60, 300, 900, 1800]),
      reconcileTimeScale: read.number("RECONCILE_TIME_SCALE", { default: 1, min: 0 }),
    },
  }));
}

export type Config = ReturnType<typeof readConfig>;
