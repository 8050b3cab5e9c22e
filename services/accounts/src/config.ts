import { fileURLToPath } from "node:url";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readSealingKeys } from "@postrider/shared/sealing-keys";
import { readBusConfig, readDatabaseConfig, readProcessConfig } from "@postrider/shared/service";
import type { PlatformSettings } from "#src/connectors/registry.ts";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

/** Both of Meta's platforms stand on the Graph API and on Facebook Login, each with an app of its own. */
function readMetaApp(read: EnvReader, name: "INSTAGRAM" | "FACEBOOK") {
  const version = read.string(`${name}_API_VERSION`, { default: "v25.0" });
  const dialog = `https://www.facebook.com/${version}/dialog/oauth`;
  return {
    baseUrl: read.url(`${name}_BASE_URL`, "https://graph.facebook.com"),
    version,
    authorizeUrl: read.url(`${name}_AUTHORIZE_URL`, dialog),
    clientId: read.optionalString(`${name}_CLIENT_ID`),
    clientSecret: read.optionalString(`${name}_CLIENT_SECRET`),
  };
}

function readPlatforms(read: EnvReader): PlatformSettings {
  return {
    instagram: readMetaApp(read, "INSTAGRAM"),
    x: {
      baseUrl: read.url("X_BASE_URL", "https://api.x.com"),
      authorizeUrl: read.url("X_AUTHORIZE_URL", "https://x.com/i/oauth2/authorize"),
      clientId: read.optionalString("X_CLIENT_ID"),
      clientSecret: read.optionalString("X_CLIENT_SECRET"),
    },
    facebook: readMetaApp(read, "FACEBOOK"),
    youtube: {
      baseUrl: read.url("YOUTUBE_BASE_URL", "https://www.googleapis.com"),
      oauthBaseUrl: read.url("YOUTUBE_OAUTH_BASE_URL", "https://oauth2.googleapis.com"),
      authorizeUrl: read.url(
        "YOUTUBE_AUTHORIZE_URL",
        "https://accounts.google.com/o/oauth2/v2/auth",
      ),
      clientId: read.optionalString("YOUTUBE_CLIENT_ID"),
      clientSecret: read.optionalString("YOUTUBE_CLIENT_SECRET"),
    },
    tiktok: {
      baseUrl: read.url("TIKTOK_BASE_URL", "https://open.tiktokapis.com"),
      // TikTok knows the page with a slash at the end only.
      authorizeUrl: `${read.url("TIKTOK_AUTHORIZE_URL", "https://www.tiktok.com/v2/auth/authorize")}/`,
      clientKey: read.optionalString("TIKTOK_CLIENT_KEY"),
      clientSecret: read.optionalString("TIKTOK_CLIENT_SECRET"),
    },
    telegram: {
      baseUrl: read.url("TELEGRAM_BASE_URL", "https://api.telegram.org"),
      botToken: read.optionalString("TELEGRAM_BOT_TOKEN"),
    },
    bluesky: { baseUrl: read.url("BLUESKY_BASE_URL", "https://bsky.social") },
  };
}

export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  return loadConfig(env, (read) => ({
    ...readProcessConfig(read, "accounts", 8081),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    credentialKeys: readSealingKeys(read, "CREDENTIAL_KEYS"),
    /** Where people and platforms reach the gateway; stands in links and in what platforms send browsers back to. */
    publicUrl: read.url("PUBLIC_URL", "http://127.0.0.1:8080"),
    /** Only the local stack has one; without it no account can be connected as a simulated one. */
    simulatorUrl: read.optionalString("SIMULATOR_URL")?.replace(/\/+$/, ""),
    platforms: readPlatforms(read),
  }));
}

export type Config = ReturnType<typeof readConfig>;
