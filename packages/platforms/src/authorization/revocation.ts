export type RevocationReason =
  | "app_wide_grant"
  | "not_verified"
  | "not_configured"
  | "already_disconnected";

/**
 * What the REST API answers about the platform's tokens when an account is disconnected.
 * `unconfirmed` = the platform was called to revoke the tokens, whatever it answered.
 */
export type Revocation =
  | { readonly outcome: "unconfirmed" }
  | { readonly outcome: "not_attempted"; readonly reason: RevocationReason };

export type RevocationScope =
  | { readonly ends: "tokens" | "grant" }
  | { readonly reason: RevocationReason };

/** `isShared` = another connection depends on the same grant of the person. */
export function reasonNotToRevoke(
  scope: RevocationScope,
  isShared: boolean,
): RevocationReason | undefined {
  if ("reason" in scope) return scope.reason;
  return isShared && scope.ends === "grant" ? "app_wide_grant" : undefined;
}
