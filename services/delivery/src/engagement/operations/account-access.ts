import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { Logger } from "@postrider/shared/telemetry/logger";
import { fetchCredentials, type AccountRef, type AccountsClients } from "#src/clients/accounts.ts";
import { renewToken, requireReconnect } from "#src/operations/renew-token.ts";

export interface AccessDeps {
  readonly accounts: AccountsClients;
  readonly logger: Logger;
}

/** The account cannot be used until the user connects it again. */
export interface Unusable {
  readonly kind: "unusable";
  readonly code: "account_reconnect_required" | "account_disconnected";
}

/** The account's access token could not be read or renewed at the moment. */
export interface Unavailable {
  readonly kind: "unavailable";
  readonly message: string;
}

type WithoutToken<T> = Exclude<T, { readonly kind: "token_refused" }>;

/**
 * Makes a platform call in the name of an account. If the platform refuses the access token, the
 * call is made once more with a renewed token. If the platform refuses that one too, the owner must
 * connect the account again.
 *
 * @param call A call that the platform certainly did not carry out when its result is
 *   `token_refused`.
 */
export async function withAccess<T extends { readonly kind: string }>(
  deps: AccessDeps,
  account: AccountRef,
  call: (access: AccountAccess) => Promise<T>,
): Promise<WithoutToken<T> | Unusable | Unavailable> {
  const [credential] = await fetchCredentials(deps.accounts, [account]);
  if (credential === undefined) throw new Error("the accounts service returned no credential");
  return await withCredential(deps, account, credential, call);
}

/**
 * Makes a platform call like `withAccess`, but with a credential that was read earlier, so that
 * several calls can share it.
 */
export async function withCredential<T extends { readonly kind: string }>(
  deps: AccessDeps,
  account: AccountRef,
  credential: Credential,
  call: (credential: Credential) => Promise<T>,
): Promise<WithoutToken<T> | Unusable | Unavailable> {
  const status = unusableBecause(credential);
  if (status !== undefined) return { kind: "unusable", code: status };
  const first = await call(credential);
  if (wasTokenAccepted(first)) return first;
  const renewed = await renewToken(deps, account, credential);
  if (renewed.kind === "unusable") return renewed;
  if (renewed.kind === "unavailable")
    return { kind: "unavailable", message: renewed.failure.message };
  const second = await call(renewed.credential);
  if (wasTokenAccepted(second)) return second;
  await requireReconnect(deps, account, renewed.credential);
  return { kind: "unusable", code: "account_reconnect_required" };
}

function unusableBecause({ accountStatus }: Credential): Unusable["code"] | undefined {
  if (accountStatus === "active") return undefined;
  return accountStatus === "reconnect_required"
    ? "account_reconnect_required"
    : "account_disconnected";
}

function wasTokenAccepted<T extends { readonly kind: string }>(
  result: T,
): result is WithoutToken<T> {
  return result.kind !== "token_refused";
}
