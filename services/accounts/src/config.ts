import { fileURLToPath } from "node:url";
import type { AuthorizationSettings } from "@postrider/platforms/authorization/registry";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPublicUrl } from "@postrider/shared/config/addresses";
import {
  readBusConfig,
  readDatabaseConfig,
  readProcessConfig,
} from "@postrider/shared/process/service";
import { readSealingKeys } from "@postrider/shared/secrets/sealing-keys";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

const API = "Where the API of the platform answers.";
const DIALOG = "The page on which people approve.";
const CLIENT_ID = "Id of your app on the platform; without it the platform is not available.";
const CLIENT_SECRET = "Secret of your app on the platform.";

/** Both of Meta's platforms stand on the Graph API and on Facebook Login, each with an app of its own. */
function readMetaApp(read: EnvReader, name: "INSTAGRAM" | "FACEBOOK") {
  const version = read
    .about("Version of the Graph API.")
    .string(`${name}_API_VERSION`, { default: "v25.0" });
  const dialog = `https://www.facebook.com/${version}/dialog/oauth`;
  return {
    baseUrl: read.about(API).url(`${name}_BASE_URL`, "https://graph.facebook.com"),
    version,
    authorizeUrl: read.about(DIALOG).url(`${name}_AUTHORIZE_URL`, dialog),
    ...readOAuthApp(read, name),
  };
}

function readInstagram(read: EnvReader): AuthorizationSettings["instagram"] {
  const page = "https://www.instagram.com/oauth/authorize";
  return {
    ...readMetaApp(read, "INSTAGRAM"),
    login: read
      .about("How people connect: by their Page, or with Instagram itself, which deletes nothing.")
      .oneOf("INSTAGRAM_LOGIN", ["facebook", "instagram"], "facebook"),
    instagramLogin: {
      baseUrl: read.about(API).url("INSTAGRAM_LOGIN_BASE_URL", "https://graph.instagram.com"),
      oauthBaseUrl: read
        .about("Where Instagram gives out tokens.")
        .url("INSTAGRAM_LOGIN_OAUTH_BASE_URL", "https://api.instagram.com"),
      authorizeUrl: read.about(DIALOG).url("INSTAGRAM_LOGIN_AUTHORIZE_URL", page),
    },
  };
}

function readOAuthApp(read: EnvReader, name: string) {
  return {
    clientId: read.about(CLIENT_ID).optionalString(`${name}_CLIENT_ID`),
    clientSecret: read.secret(CLIENT_SECRET).optionalString(`${name}_CLIENT_SECRET`),
  };
}

function readTiktok(read: EnvReader): AuthorizationSettings["tiktok"] {
  const dialog = read
    .about(DIALOG)
    .url("TIKTOK_AUTHORIZE_URL", "https://www.tiktok.com/v2/auth/authorize");
  return {
    baseUrl: read.about(API).url("TIKTOK_BASE_URL", "https://open.tiktokapis.com"),
    // TikTok knows the page with a slash at the end only.
    authorizeUrl: `${dialog}/`,
    clientKey: read.about(CLIENT_ID).optionalString("TIKTOK_CLIENT_KEY"),
    clientSecret: read.secret(CLIENT_SECRET).optionalString("TIKTOK_CLIENT_SECRET"),
  };
}

function readPlatforms(read: EnvReader): AuthorizationSettings {
  return {
    instagram: readInstagram(read),
    x: {
      baseUrl: read.about(API).url("X_BASE_URL", "https://api.x.com"),
      authorizeUrl: read.about(DIALOG).url("X_AUTHORIZE_URL", "https://x.com/i/oauth2/authorize"),
      ...readOAuthApp(read, "X"),
    },
    facebook: readMetaApp(read, "FACEBOOK"),
    youtube: {
      baseUrl: read.about(API).url("YOUTUBE_BASE_URL", "https://www.googleapis.com"),
      oauthBaseUrl: read
        .about("Where Google gives out tokens.")
        .url("YOUTUBE_OAUTH_BASE_URL", "https://oauth2.googleapis.com"),
      authorizeUrl: read
        .about(DIALOG)
        .url("YOUTUBE_AUTHORIZE_URL", "https://accounts.google.com/o/oauth2/v2/auth"),
      ...readOAuthApp(read, "YOUTUBE"),
    },
    tiktok: readTiktok(read),
    telegram: {
      baseUrl: read.about(API).url("TELEGRAM_BASE_URL", "https://api.telegram.org"),
      botToken: read
        .secret("Makes telegram available; which bot publishes is said with each account.")
        .optionalString("TELEGRAM_BOT_TOKEN"),
    },
    bluesky: { baseUrl: read.about(API).url("BLUESKY_BASE_URL", "https://bsky.social") },
  };
}

export function readSettings(read: EnvReader) {
  return {
    ...readProcessConfig(read, "accounts", 8081),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    credentialKeys: readSealingKeys(
      read.secret(
        "Seal the tokens of connected accounts: `kid:base64-of-32-bytes`, newest first. The newest seals, all open.",
      ),
      "CREDENTIAL_KEYS",
    ),
    deploymentId: read
      .about(
        "Name of this deployment. Another one than the data's makes it a copy, which publishes nothing until it is adopted.",
      )
      .string("DEPLOYMENT_ID", { default: "default" }),
    publicUrl: readPublicUrl(read),
    simulatorUrl: read
      .about("The simulator; without it no account can be connected as a simulated one.")
      .optionalString("SIMULATOR_URL")
      ?.replace(/\/+$/, ""),
    platforms: readPlatforms(read),
  };
}

export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  return loadConfig(env, readSettings);
}

/** Migrating needs the database, and is told nothing else. */
export function readMigrationConfig() {
  return loadConfig(process.env, readDatabaseConfig);
}

export type Config = ReturnType<typeof readConfig>;
