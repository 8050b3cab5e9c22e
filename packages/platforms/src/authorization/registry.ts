import { createBlueskyConnector } from "#src/bluesky/authorization.ts";
import { createFacebookConnector } from "#src/facebook/authorization.ts";
import { createInstagramConnector, type InstagramLogin } from "#src/instagram/authorization.ts";
import type { InstagramLoginUrls } from "#src/instagram/instagram-login.ts";
import type { PlatformId } from "#src/registry.ts";
import { createTelegramConnector } from "#src/telegram/authorization.ts";
import { createTiktokConnector } from "#src/tiktok/authorization.ts";
import { createXConnector } from "#src/x/authorization.ts";
import { createYoutubeConnector } from "#src/youtube/authorization.ts";
import type { Connector } from "./connector.ts";

/** Where the platforms are, and the credentials of our apps there. */
export interface PlatformSettings {
  readonly instagram: {
    readonly baseUrl: string;
    readonly version: string;
    /** The page on which people approve. */
    readonly authorizeUrl: string;
    readonly clientId: string | undefined;
    readonly clientSecret: string | undefined;
    readonly login: InstagramLogin;
    readonly instagramLogin: InstagramLoginUrls;
  };
  readonly x: {
    readonly baseUrl: string;
    /** The page on which people approve. */
    readonly authorizeUrl: string;
    readonly clientId: string | undefined;
    readonly clientSecret: string | undefined;
  };
  readonly facebook: {
    readonly baseUrl: string;
    readonly version: string;
    /** The page on which people approve. */
    readonly authorizeUrl: string;
    readonly clientId: string | undefined;
    readonly clientSecret: string | undefined;
  };
  readonly youtube: {
    readonly baseUrl: string;
    readonly oauthBaseUrl: string;
    /** The page on which people approve. */
    readonly authorizeUrl: string;
    readonly clientId: string | undefined;
    readonly clientSecret: string | undefined;
  };
  readonly tiktok: {
    readonly baseUrl: string;
    /** The page on which people approve. */
    readonly authorizeUrl: string;
    readonly clientKey: string | undefined;
    readonly clientSecret: string | undefined;
  };
  readonly telegram: { readonly baseUrl: string; readonly botToken: string | undefined };
  readonly bluesky: { readonly baseUrl: string };
}

/** A platform that this installation can connect. */
export interface ConfiguredPlatform {
  readonly baseUrl: string;
  readonly connector: Connector;
}

export type PlatformConnectors = Readonly<Record<PlatformId, ConfiguredPlatform | undefined>>;

function configureInstagram(settings: PlatformSettings["instagram"]) {
  const { clientId, clientSecret, login, instagramLogin: urls } = settings;
  if (clientId === undefined || clientSecret === undefined) return undefined;
  const app = { ...settings, clientId, clientSecret };
  const { baseUrl } = login === "facebook" ? settings : urls;
  return { baseUrl, connector: createInstagramConnector(app, login, urls) };
}

function configureFacebook(settings: PlatformSettings["facebook"]) {
  const { baseUrl, clientId, clientSecret } = settings;
  if (clientId === undefined || clientSecret === undefined) return undefined;
  return { baseUrl, connector: createFacebookConnector({ ...settings, clientId, clientSecret }) };
}

function configureX(settings: PlatformSettings["x"]) {
  const { baseUrl, clientId, clientSecret } = settings;
  if (clientId === undefined || clientSecret === undefined) return undefined;
  return { baseUrl, connector: createXConnector({ ...settings, clientId, clientSecret }) };
}

function configureYoutube(settings: PlatformSettings["youtube"]) {
  const { baseUrl, clientId, clientSecret } = settings;
  if (clientId === undefined || clientSecret === undefined) return undefined;
  return { baseUrl, connector: createYoutubeConnector({ ...settings, clientId, clientSecret }) };
}

function configureTiktok(settings: PlatformSettings["tiktok"]) {
  const { baseUrl, clientKey, clientSecret } = settings;
  if (clientKey === undefined || clientSecret === undefined) return undefined;
  return { baseUrl, connector: createTiktokConnector({ ...settings, clientKey, clientSecret }) };
}

/**
 * The connectors of this installation; undefined where the app's credentials are missing or no connector exists yet.
 *
 * @param simulatorUrl Channels on the simulator bring bots of their own, so there no bot has to be configured.
 */
export function createConnectors(
  settings: PlatformSettings,
  simulatorUrl: string | undefined,
): PlatformConnectors {
  const { telegram, bluesky } = settings;
  const hasBot = telegram.botToken !== undefined || isSimulated(telegram.baseUrl, simulatorUrl);
  return {
    instagram: configureInstagram(settings.instagram),
    x: configureX(settings.x),
    facebook: configureFacebook(settings.facebook),
    tiktok: configureTiktok(settings.tiktok),
    youtube: configureYoutube(settings.youtube),
    telegram: hasBot
      ? { baseUrl: telegram.baseUrl, connector: createTelegramConnector(telegram.baseUrl) }
      : undefined,
    bluesky: { baseUrl: bluesky.baseUrl, connector: createBlueskyConnector(bluesky.baseUrl) },
  } satisfies Record<PlatformId, ConfiguredPlatform | undefined>;
}

/** Whether a platform's address is the simulator's. */
export function isSimulated(baseUrl: string, simulatorUrl: string | undefined): boolean {
  return simulatorUrl !== undefined && baseUrl.startsWith(`${simulatorUrl}/`);
}
