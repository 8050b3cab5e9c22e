import type { AuthorizationConnector } from "./connector.ts";
import type { PermissionsByFeature, PlatformFeature } from "./permissions.ts";
import type { RevocationScope } from "./revocation.ts";

/** The settings of a platform app; its credentials are undefined when the operator has not configured them. */
export type Unconfigured<App> = {
  readonly [Name in keyof App]: Name extends "clientId" | "clientKey" | "clientSecret"
    ? App[Name] | undefined
    : App[Name];
};

/** A platform whose accounts this installation can connect. */
export interface ConfiguredPlatform {
  readonly baseUrl: string;
  readonly connector: AuthorizationConnector;
}

/** What is the same for all platforms of an installation. */
export interface Installation {
  /** Optional features whose permissions people are asked for, in addition to those for publishing. */
  readonly features: readonly PlatformFeature[];
  /**
   * URL of the simulator, whose Telegram chats have their own bots, so that no bot token needs to be configured;
   * undefined without a simulator.
   */
  readonly simulatorUrl: string | undefined;
}

/** How the accounts of a platform are connected. */
export interface PlatformAuthorization<Settings> {
  /** Creates the authorization connector; undefined when the credentials of our app on the platform are missing. */
  readonly configure: (
    settings: Settings,
    installation: Installation,
  ) => ConfiguredPlatform | undefined;
  /**
   * The permissions of each way to connect an account, the usual one first; undefined for a platform whose accounts
   * always have all permissions.
   */
  readonly permissions: readonly PermissionsByFeature[] | undefined;
  readonly revocation: RevocationScope;
}

/** Returns a function that creates a platform's authorization connector when all settings of our app are known. */
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

/** Whether the platform is called at the simulator, because its base address setting is below the simulator's URL. */
export function isSimulated(baseUrl: string, simulatorUrl: string | undefined): boolean {
  return simulatorUrl !== undefined && baseUrl.startsWith(`${simulatorUrl}/`);
}
