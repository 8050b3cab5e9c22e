import type { AuthorizationConnector } from "./connector.ts";
import type { PermissionsByFeature, PlatformFeature } from "./permissions.ts";
import type { RevocationScope } from "./revocation.ts";

export type Unconfigured<App> = {
  readonly [Name in keyof App]: Name extends "clientId" | "clientKey" | "clientSecret"
    ? App[Name] | undefined
    : App[Name];
};

export interface ConfiguredPlatform {
  readonly baseUrl: string;
  readonly connector: AuthorizationConnector;
}

export interface Installation {
  /** In addition to those for publishing. */
  readonly features: readonly PlatformFeature[];
  readonly simulatorUrl: string | undefined;
}

export interface PlatformAuthorization<Settings> {
  /** Undefined when the credentials of our app on the platform are missing. */
  readonly configure: (
    settings: Settings,
    installation: Installation,
  ) => ConfiguredPlatform | undefined;
  /** The usual one first; undefined for a platform whose accounts always have all permissions. */
  readonly permissions: readonly PermissionsByFeature[] | undefined;
  readonly revocation: RevocationScope;
}

export function configureApp<App extends { readonly baseUrl: string }>(
  create: (app: App, features: readonly PlatformFeature[]) => AuthorizationConnector,
): PlatformAuthorization<Unconfigured<App>>["configure"] {
  return (settings, { features }) =>
    isConfigured(settings)
      ? { baseUrl: settings.baseUrl, connector: create(settings, features) }
      : undefined;
}

function isConfigured<App>(settings: Unconfigured<App>): settings is Unconfigured<App> & App {
  return Object.values(settings as object).every((value) => value !== undefined);
}

export function isSimulated(baseUrl: string, simulatorUrl: string | undefined): boolean {
  return simulatorUrl !== undefined && baseUrl.startsWith(`${simulatorUrl}/`);
}
