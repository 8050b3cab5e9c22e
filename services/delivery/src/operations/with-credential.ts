import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { Logger } from "@postrider/shared/telemetry/logger";
import * as accounts from "#src/clients/accounts.ts";

export interface AccessDeps {
  readonly accounts: accounts.AccountsClients;
  readonly logger: Logger;
}

/** The account cannot be used until the user connects it again. */
export interface Unusable {
  readonly kind: "unusable";
  readonly code: "account_reconnect_required" | "account_disconnected";
  /** What the platform said when it refused the access token; empty if it was not called. */
  readonly message: string;
}

/** The access token could not be read or renewed at the moment. The account stays connected. */
export interface Unavailable {
  readonly kind: "unavailable";
  readonly message: string;
}

interface Answer {
  readonly kind: string;
  readonly message?: string;
}

type WithoutRefusal<T> = Exclude<T, { readonly kind: "token_refused" }>;
export type Answered<T> = WithoutRefusal<T> | Unusable | Unavailable;

/** Like `withCredential`, with the newest credential. */
export async function withAccess<T extends Answer>(
  deps: AccessDeps,
  account: accounts.AccountRef,
  call: (credential: Credential) => Promise<T>,
): Promise<Answered<T>> {
  const credential = await accounts.fetchCredential(deps.accounts, account);
  return await withCredential(deps, account, credential, call);
}

/**
 * Calls a platform in the name of an account. If the platform refuses the access token, the call is
 * made once more with a renewed one. If it refuses that one too, the owner must connect the account
 * again.
 *
 * @param call Certainly not carried out by the platform when its result is `token_refused`.
 */
export async function withCredential<T extends Answer>(
  deps: AccessDeps,
  account: accounts.AccountRef,
  credential: Credential,
  call: (credential: Credential) => Promise<T>,
): Promise<Answered<T>> {
  const unusable = findUnusable(credential, "");
  if (unusable !== undefined) return unusable;
  const first = await call(credential);
  if (isTokenAccepted(first)) return first;
  const renewed = await renewToken(deps, account, credential, first.message ?? "");
  if ("kind" in renewed) return renewed;
  const second = await call(renewed);
  if (isTokenAccepted(second)) return second;
  await requireReconnect(deps, account, renewed);
  const message = second.message ?? "";
  return { kind: "unusable", code: "account_reconnect_required", message };
}

function isTokenAccepted<T extends Answer>(answer: T): answer is WithoutRefusal<T> {
  return answer.kind !== "token_refused";
}

function findUnusable({ accountStatus }: Credential, message: string): Unusable | undefined {
  if (accountStatus === "active") return undefined;
  const isReconnect = accountStatus === "reconnect_required";
  const code = isReconnect ? "account_reconnect_required" : "account_disconnected";
  return { kind: "unusable", code, message };
}

/** A newer one than the platform refused. */
async function renewToken(
  deps: AccessDeps,
  account: accounts.AccountRef,
  refused: Credential,
  message: string,
): Promise<Credential | Unusable | Unavailable> {
  let credential: Credential;
  try {
    credential = await accounts.refreshCredential(deps.accounts, account, refused.version);
  } catch (error) {
    const { accountId } = account;
    deps.logger.warn(
      { err: error, accountId },
      "the access token of an account could not be refreshed; the work for the account is tried again later",
    );
    return { kind: "unavailable", message: "the access token could not be refreshed" };
  }
  const unusable = findUnusable(credential, message);
  if (unusable !== undefined || credential.version > refused.version) return unusable ?? credential;
  await requireReconnect(deps, account, refused);
  return { kind: "unusable", code: "account_reconnect_required", message };
}

/** Ignored by the accounts service if it has renewed the access token in the meantime. */
async function requireReconnect(
  deps: AccessDeps,
  account: accounts.AccountRef,
  refused: Credential,
): Promise<void> {
  try {
    await accounts.requireReconnect(deps.accounts, account, refused.version);
  } catch (error) {
    // If this RPC fails, the platform refuses the token of the account's next call too, and the
    // accounts service is told then.
    const { accountId } = account;
    deps.logger.warn(
      { err: error, accountId },
      "the accounts service could not be told that an account must be connected again; the next platform call for the account tries again",
    );
  }
}
