import { type GraphApi, type GraphCaller, openGraph } from "#src/graph-api/graph-request.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";

export function usesInstagramLogin({ attributes }: Pick<AccountAccess, "attributes">): boolean {
  return attributes.login === "instagram";
}

export interface InstagramSettings extends GraphApi {
  /** Accounts that were connected with Instagram Login; their tokens work only there. */
  readonly loginBaseUrl: string;
}

/** Opens the API with which the account was connected. */
export function openOfAccount(settings: InstagramSettings) {
  return (account: AccountAccess, signal: AbortSignal): GraphCaller =>
    openGraph(apiOfAccount(settings, account), account, signal);
}

export function apiOfAccount(
  { loginBaseUrl, ...api }: InstagramSettings,
  account: Pick<AccountAccess, "attributes">,
): GraphApi {
  return usesInstagramLogin(account) ? { ...api, baseUrl: loginBaseUrl } : api;
}
