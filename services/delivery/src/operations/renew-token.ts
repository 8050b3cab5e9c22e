import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { Failure } from "@postrider/platforms/publishing/outcome";
import type { Logger } from "@postrider/shared/telemetry/logger";
import * as accounts from "#src/clients/accounts.ts";

interface Deps {
  readonly accounts: accounts.AccountsClients;
  readonly logger: Logger;
}

export type RenewedToken =
  | { readonly kind: "renewed"; readonly credential: Credential }
  /**
   * The platform's token endpoint does not answer. The account stays connected, and the work is
   * tried again later.
   */
  | { readonly kind: "unavailable"; readonly failure: Extract<Failure, { kind: "retryable" }> }
  /** The user has to reconnect the account. */
  | {
      readonly kind: "unusable";
      readonly code: "account_reconnect_required" | "account_disconnected";
    };

const UNAVAILABLE: RenewedToken = {
  kind: "unavailable",
  failure: {
    kind: "retryable",
    code: "platform_unavailable",
    message: "the access token could not be refreshed",
  },
};

/**
 * Requests from the accounts service an access token that is newer than the one that the platform
 * refused.
 */
export async function renewToken(
  deps: Deps,
  account: accounts.AccountRef,
  refused: Credential,
): Promise<RenewedToken> {
  let credential: Credential;
  try {
    credential = await accounts.refreshCredential(deps.accounts, account, refused.version);
  } catch (error) {
    const { accountId } = account;
    deps.logger.warn(
      { err: error, accountId },
      "the access token of an account could not be refreshed; the work for the account is tried again later",
    );
    return UNAVAILABLE;
  }
  switch (credential.accountStatus) {
    case "active":
      if (credential.version > refused.version) return { kind: "renewed", credential };
      await requireReconnect(deps, account, refused);
      return { kind: "unusable", code: "account_reconnect_required" };
    case "reconnect_required":
      return { kind: "unusable", code: "account_reconnect_required" };
    default:
      return { kind: "unusable", code: "account_disconnected" };
  }
}

/**
 * Tells the accounts service that the user must reconnect the account. The accounts service ignores
 * this if it has renewed the access token in the meantime.
 */
export async function requireReconnect(
  deps: Deps,
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
