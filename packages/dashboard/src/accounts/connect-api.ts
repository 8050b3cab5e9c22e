import type { Account, PlatformId } from "@postrider/client";
import type {
  ConnectAccountJson,
  ConnectLinkJson,
  CreateConnectLinkJson,
} from "@postrider/rest/dashboard/accounts";
import { appApi } from "../api/app-api.ts";

/** Platforms without a page on which an account is approved: a person enters the credentials. */
export const CREDENTIALS = {
  bluesky: ["identifier", "appPassword"],
  telegram: ["chatId", "botToken"],
} as const satisfies Partial<Record<PlatformId, readonly string[]>>;

export type CredentialPlatform = keyof typeof CREDENTIALS;

export function takesCredentials(platform: PlatformId): platform is CredentialPlatform {
  return platform in CREDENTIALS;
}

export const connectApi = {
  /** An address at the platform, which leads back to `returnTo` with `connected=ID,ID`. */
  createLink: (body: CreateConnectLinkJson) =>
    appApi<ConnectLinkJson>("POST", "/connect-links", { body }),
  connect: (body: ConnectAccountJson) => appApi<Account>("POST", "/accounts", { body }),
};
