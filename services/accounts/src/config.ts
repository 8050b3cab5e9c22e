import { fileURLToPath } from "node:url";
import { readPlatformAddresses } from "@postrider/platforms/addresses";
import {
  PLATFORM_FEATURES,
  type PlatformFeature,
} from "@postrider/platforms/authorization/permissions";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { AuthorizationSettings } from "@postrider/platforms/platforms";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { loadConfig, type EnvReader } from "@postrider/shared/config";
import { readPublicUrl } from "@postrider/shared/config/addresses";
import { readDeploymentId } from "@postrider/shared/deployment/setting";
import { readOutboundRules } from "@postrider/shared/http/outbound-rules";
import { readTrustConfig } from "@postrider/shared/identity/settings";
import {
  readBusConfig,
  readDatabaseConfig,
  readMigrationSettings,
  readProcessConfig,
} from "@postrider/shared/process/service";
import { readSealingKeys } from "@postrider/shared/secrets/sealing-keys";

export const MIGRATIONS = fileURLToPath(new URL("../migrations", import.meta.url));

function readBotToken(read: EnvReader): string | undefined {
  return read
    .secret("Token of your Telegram bot. Without it, Telegram accounts cannot be connected.")
    .optionalString("TELEGRAM_BOT_TOKEN");
}

function readTiktokApp(read: EnvReader) {
  return {
    clientKey: read
      .about("Client key of your TikTok app. Without it, TikTok accounts cannot be connected.")
      .optionalString("TIKTOK_CLIENT_KEY"),
    clientSecret: read
      .secret("Client secret of your TikTok app.")
      .optionalString("TIKTOK_CLIENT_SECRET"),
  };
}

function readApp(read: EnvReader, platform: PlatformId) {
  const prefix = platform.toUpperCase();
  return {
    clientId: read
      .about(
        `Client ID of your ${PLATFORM_FACTS[platform].rules.displayName} app. Without it, ${PLATFORM_FACTS[platform].rules.displayName} accounts cannot be connected.`,
      )
      .optionalString(`${prefix}_CLIENT_ID`),
    clientSecret: read
      .secret(`Client secret of your ${PLATFORM_FACTS[platform].rules.displayName} app.`)
      .optionalString(`${prefix}_CLIENT_SECRET`),
  };
}

interface SimulatorAddresses {
  readonly simulatorUrl: string | undefined;
  readonly simulatorPublicUrl: string | undefined;
}

function readSimulator(read: EnvReader): SimulatorAddresses {
  return {
    simulatorUrl: read
      .about("Address of the simulator. `postrider account connect --simulated` needs it.", {
        level: "tests",
      })
      .optionalString("SIMULATOR_URL")
      ?.replace(/\/+$/, ""),
    simulatorPublicUrl: read
      .about("Address at which browsers open the simulator's pages for connecting accounts.", {
        level: "tests",
        default: "the value of `SIMULATOR_URL`",
      })
      .optionalString("SIMULATOR_PUBLIC_URL")
      ?.replace(/\/+$/, ""),
  };
}

/**
 * Replaces the simulator's address in a page's URL with the address at which browsers reach the simulator. URLs of
 * pages outside the simulator stay as they are.
 */
function toPage(page: string, { simulatorUrl, simulatorPublicUrl }: SimulatorAddresses): string {
  if (simulatorUrl === undefined || simulatorPublicUrl === undefined) return page;
  return page.startsWith(`${simulatorUrl}/`)
    ? simulatorPublicUrl + page.slice(simulatorUrl.length)
    : page;
}

function readFeatures(read: EnvReader): readonly PlatformFeature[] {
  return read
    .about(
      "What people are asked to permit besides publishing when they connect accounts: `comments` (read, answer and hide them), `messages` (private replies to comments) and `metrics`. Your apps on the platforms must have the permissions for each: if one is missing, Facebook and Instagram refuse to connect the account. Accounts that were connected before a change must be connected again.",
    )
    .someOf("PLATFORM_FEATURES", PLATFORM_FEATURES);
}

/**
 * Reads the accounts service's settings of each platform under the property names that the platform's connector uses.
 */
function readPlatforms(read: EnvReader, simulator: SimulatorAddresses): AuthorizationSettings {
  const { graphVersion: version, ...at } = readPlatformAddresses(read);
  const { login } = at.instagram;
  return {
    features: readFeatures(read),
    instagram: {
      baseUrl: at.instagram.api,
      version,
      authorizeUrl: toPage(at.instagram.authorize, simulator),
      ...readApp(read, "instagram"),
      login: read
        .about(
          "How people connect Instagram accounts: `facebook` = they sign in with the Facebook account that manages their Page, `instagram` = they sign in on Instagram itself (Postrider can then not delete posts).",
        )
        .oneOf("INSTAGRAM_LOGIN", ["facebook", "instagram"], "facebook"),
      instagramLogin: {
        baseUrl: login.api,
        oauthBaseUrl: login.oauth,
        authorizeUrl: toPage(login.authorize, simulator),
      },
    },
    x: {
      baseUrl: at.x.api,
      authorizeUrl: toPage(at.x.authorize, simulator),
      ...readApp(read, "x"),
    },
    facebook: {
      baseUrl: at.facebook.api,
      version,
      authorizeUrl: toPage(at.facebook.authorize, simulator),
      ...readApp(read, "facebook"),
    },
    youtube: {
      baseUrl: at.youtube.api,
      oauthBaseUrl: at.youtube.oauth,
      authorizeUrl: toPage(at.youtube.authorize, simulator),
      ...readApp(read, "youtube"),
    },
    tiktok: {
      baseUrl: at.tiktok.api,
      authorizeUrl: toPage(at.tiktok.authorize, simulator),
      ...readTiktokApp(read),
    },
    telegram: {
      baseUrl: at.telegram.api,
      botToken: readBotToken(read),
    },
    bluesky: { baseUrl: at.bluesky.api, plcUrl: at.bluesky.directory },
  };
}

export function readSettings(read: EnvReader) {
  const simulator = readSimulator(read);
  return {
    ...readProcessConfig(read, "accounts", 8081),
    ...readTrustConfig(read),
    ...readDatabaseConfig(read),
    ...readBusConfig(read),
    credentialKeys: readSealingKeys(
      read.secret(
        "Keys that encrypt the stored tokens of connected accounts: a list of `id:key`, separated by commas, newest first; a key is 32 random bytes in base64. The newest key encrypts, all keys decrypt.",
        { level: "needed" },
      ),
      "CREDENTIAL_KEYS",
    ),
    deploymentId: readDeploymentId(read),
    publicUrl: readPublicUrl(read),
    simulatorUrl: simulator.simulatorUrl,
    platforms: readPlatforms(read, simulator),
    outbound: readOutboundRules(read),
  };
}

export function readConfig(env: NodeJS.ProcessEnv = process.env) {
  return loadConfig(env, readSettings);
}

/** Reads the configuration of the accounts service's migration command, which needs only the database. */
export function readMigrationConfig() {
  return loadConfig(process.env, readMigrationSettings);
}

export type Config = ReturnType<typeof readConfig>;
