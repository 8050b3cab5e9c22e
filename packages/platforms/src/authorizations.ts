import type { EnvReader } from "@postrider/shared/config";
import type {
  ConfiguredPlatform,
  Installation,
  PlatformAuthorization,
} from "#src/authorization/configure.ts";
import { limitTexts } from "#src/authorization/limit-texts.ts";
import type { PlatformFeature } from "#src/authorization/permissions.ts";
import { authorization as bluesky } from "#src/bluesky/authorization.ts";
import { environment as blueskyEnvironment } from "#src/bluesky/environment.ts";
import { authorization as facebook } from "#src/facebook/authorization.ts";
import { environment as facebookEnvironment } from "#src/facebook/environment.ts";
import { authorization as instagram } from "#src/instagram/authorization.ts";
import { environment as instagramEnvironment } from "#src/instagram/environment.ts";
import type { AvailableReader } from "#src/settings/available-reader.ts";
import { authorization as telegram } from "#src/telegram/authorization.ts";
import { environment as telegramEnvironment } from "#src/telegram/environment.ts";
import { authorization as tiktok } from "#src/tiktok/authorization.ts";
import { createTiktokAvailableReader } from "#src/tiktok/available.ts";
import { environment as tiktokEnvironment } from "#src/tiktok/environment.ts";
import { authorization as x } from "#src/x/authorization.ts";
import { environment as xEnvironment } from "#src/x/environment.ts";
import { authorization as youtube } from "#src/youtube/authorization.ts";
import { environment as youtubeEnvironment } from "#src/youtube/environment.ts";
import type { PlatformEnvironment } from "./environment.ts";
import { PLATFORM_IDS, type PlatformId } from "./platform-id.ts";

/**
 * How the accounts of each platform are connected. The accounts service imports this file and not
 * `platforms.ts`, so that it does not load the code of publishing, comments and metrics.
 */
export const AUTHORIZATIONS = {
  instagram: { ...instagram, readApp: instagramEnvironment.readApp },
  x: { ...x, readApp: xEnvironment.readApp },
  facebook: { ...facebook, readApp: facebookEnvironment.readApp },
  tiktok: { ...tiktok, readApp: tiktokEnvironment.readApp },
  youtube: { ...youtube, readApp: youtubeEnvironment.readApp },
  telegram: { ...telegram, readApp: telegramEnvironment.readApp },
  bluesky: { ...bluesky, readApp: blueskyEnvironment.readApp },
} satisfies Record<
  PlatformId,
  PlatformAuthorization<never> & Pick<PlatformEnvironment<unknown, unknown>, "readApp">
>;

/** For each platform, the addresses for authorizing accounts and the credentials of our app. */
export type AuthorizationSettings = {
  readonly [P in PlatformId]: Parameters<(typeof AUTHORIZATIONS)[P]["configure"]>[0];
} & {
  /**
   * Optional features whose permissions people are asked for, in addition to those for publishing.
   */
  readonly features: readonly PlatformFeature[];
};

/**
 * Reads the addresses for authorizing accounts and the credentials of our app on each platform.
 *
 * @param toPage Returns the address at which browsers open a page of the platform.
 */
export function readAuthorizationSettings(
  read: EnvReader,
  toPage: (page: string) => string,
): Omit<AuthorizationSettings, "features"> {
  const entries = PLATFORM_IDS.map((id) => [id, AUTHORIZATIONS[id].readApp(read, toPage)]);
  return Object.fromEntries(entries) as Omit<AuthorizationSettings, "features">;
}

export type AuthorizationConnectors = Readonly<Record<PlatformId, ConfiguredPlatform | undefined>>;

/**
 * Creates the authorization connectors of this installation; the connector of a platform is
 * undefined when the credentials of its app are missing.
 */
export function createAuthorizationConnectors(
  settings: AuthorizationSettings,
  simulatorUrl: string | undefined,
): AuthorizationConnectors {
  const installation: Installation = { features: settings.features, simulatorUrl };
  const entries = PLATFORM_IDS.map((id) => {
    const { configure }: PlatformAuthorization<never> = AUTHORIZATIONS[id];
    const configured = configure(settings[id] as never, installation);
    return [id, configured && limitTexts(configured)];
  });
  return Object.fromEntries(entries) as AuthorizationConnectors;
}

/** Creates what asks a platform what it offers an account, for the platforms that can say it. */
export function createAvailableReaders({
  tiktok: { baseUrl },
}: Pick<AuthorizationSettings, "tiktok">): Partial<Readonly<Record<PlatformId, AvailableReader>>> {
  return { tiktok: createTiktokAvailableReader(baseUrl) };
}
