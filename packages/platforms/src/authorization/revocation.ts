/** The reason why the platform was not called to revoke our permission. The REST API returns these values. */
export type RevocationReason =
  | "app_wide_grant"
  | "not_verified"
  | "not_configured"
  | "already_disconnected";

/**
 * What the REST API answers about the platform's tokens when an account is disconnected. `unconfirmed` = the platform
 * was called to revoke the tokens, whatever it answered.
 */
export type Revocation =
  | { readonly outcome: "unconfirmed" }
  | { readonly outcome: "not_attempted"; readonly reason: RevocationReason };

/**
 * What a revocation at the platform invalidates: only the tokens of this connection (`tokens`), or everything that the
 * person ever granted to our app (`grant`); or the reason why Postrider never asks the platform to revoke.
 */
export type RevocationScope =
  | { readonly ends: "tokens" | "grant" }
  | { readonly reason: RevocationReason };

/**
 * Returns the reason why the platform must not be called to revoke tokens; undefined when it must be called.
 *
 * @param isShared Whether another connection depends on the same grant of the person.
 */
export function reasonNotToRevoke(
  scope: RevocationScope,
  isShared: boolean,
): RevocationReason | undefined {
  if ("reason" in scope) return scope.reason;
  return isShared && scope.ends === "grant" ? "app_wide_grant" : undefined;
}
