import { createBlueskyAuthorizationConnector } from "#src/bluesky/authorization.ts";
import type { BlueskyDirectory } from "#src/bluesky/find-repository.ts";
import { createFacebookAuthorizationConnector } from "#src/facebook/authorization.ts";
import type { GraphApp } from "#src/graph-api/token-owner.ts";
import {
  createInstagramAuthorizationConnector,
  type InstagramApp,
} from "#src/instagram/authorization.ts";
import type { PlatformId } from "#src/registry.ts";
import { createTelegramAuthorizationConnector } from "#src/telegram/authorization.ts";
import { createTiktokAuthorizationConnector } from "#src/tiktok/authorization.ts";
import type { TiktokApp } from "#src/tiktok/token-endpoint.ts";
import { createXAuthorizationConnector } from "#src/x/authorization.ts";
import type { XApp } from "#src/x/token-endpoint.ts";
import { createYoutubeAuthorizationConnector } from "#src/youtube/authorization.ts";
import type { YoutubeApp } from "#src/youtube/token-endpoint.ts";
import type { AuthorizationConnector } from "./connector.ts";
import type { PlatformFeature } from "./permissions.ts";

/** The settings of a platform app; its credentials are undefined when the operator has not configured them. */
type Unconfigured<App> = {
  readonly [Name in keyof App]: Name extends "clientId" | "clientKey" | "clientSecret"
    ? App[Name] | undefined
    : App[Name];
};

/** For each platform, the addresses for authorizing accounts and the credentials of our app. */
export interface AuthorizationSettings {
  /** Optional features whose permissions people are asked for, in addition to those for publishing. */
  readonly features: readonly PlatformFeature[];
  readonly instagram: Unconfigured<InstagramApp>;
  readonly x: Unconfigured<XApp>;
  readonly facebook: Unconfigured<GraphApp>;
  readonly tiktok: Unconfigured<TiktokApp>;
  readonly youtube: Unconfigured<YoutubeApp>;
  readonly telegram: { readonly baseUrl: string; readonly botToken: string | undefined };
  readonly bluesky: BlueskyDirectory;
}

/** A platform whose accounts this installation can connect. */
export interface ConfiguredPlatform {
  readonly baseUrl: string;
  readonly connector: AuthorizationConnector;
}

export type AuthorizationConnectors = Readonly<Record<PlatformId, ConfiguredPlatform | undefined>>;

/** Creates the authorization connector of a platform; undefined when the platform's settings are incomplete. */
function configure<App extends { readonly baseUrl: string }>(
  settings: Unconfigured<App>,
  create: (app: App, features: readonly PlatformFeature[]) => AuthorizationConnector,
  features: readonly PlatformFeature[],
): ConfiguredPlatform | undefined {
  return isConfigured(settings)
    ? { baseUrl: settings.baseUrl, connector: create(settings, features) }
    : undefined;
}

function isConfigured<App>(settings: Unconfigured<App>): settings is Unconfigured<App> & App {
  return Object.values(settings as object).every((value) => value !== undefined);
}

/**
 * Creates the Instagram authorization connector for the configured login. Instagram Login and Facebook Login use
 * different API hosts.
 */
function configureInstagram(
  settings: AuthorizationSettings["instagram"],
  features: readonly PlatformFeature[],
): ConfiguredPlatform | undefined {
  const configured = configure(settings, createInstagramAuthorizationConnector, features);
  if (configured === undefined || settings.login === "facebook") return configured;
  return { ...configured, baseUrl: settings.instagramLogin.baseUrl };
}

/**
 * Creates the authorization connectors of this installation; the connector of a platform is undefined when the
 * credentials of its app are missing.
 *
 * @param simulatorUrl URL of the simulator, whose Telegram channels have their own bots, so that no bot token needs
 *   to be configured.
 */
export function createAuthorizationConnectors(
  settings: AuthorizationSettings,
  simulatorUrl: string | undefined,
): AuthorizationConnectors {
  const { telegram, features } = settings;
  const hasBot = telegram.botToken !== undefined || isSimulated(telegram.baseUrl, simulatorUrl);
  return {
    instagram: configureInstagram(settings.instagram, features),
    x: configure(settings.x, createXAuthorizationConnector, features),
    facebook: configure(settings.facebook, createFacebookAuthorizationConnector, features),
    tiktok: configure(settings.tiktok, createTiktokAuthorizationConnector, features),
    youtube: configure(settings.youtube, createYoutubeAuthorizationConnector, features),
    telegram: hasBot
      ? { baseUrl: telegram.baseUrl, connector: createTelegramAuthorizationConnector(telegram) }
      : undefined,
    bluesky: configure(settings.bluesky, createBlueskyAuthorizationConnector, features),
  } satisfies Record<PlatformId, ConfiguredPlatform | undefined>;
}

/** Whether the platform is called at the simulator, because its base address setting is below the simulator's URL. */
export function isSimulated(baseUrl: string, simulatorUrl: string | undefined): boolean {
  return simulatorUrl !== undefined && baseUrl.startsWith(`${simulatorUrl}/`);
}
