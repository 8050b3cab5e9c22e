import type { Sql } from "@postrider/shared/postgres";
import { findAuthorizationByLink, type AuthorizationRow } from "#src/db/authorizations.ts";

/** An authorization whose connect link can be opened, or why the link cannot be opened. */
export type ConnectLink =
  | { readonly kind: "open"; readonly authorization: AuthorizationRow }
  | { readonly kind: "unknown" | "used" | "expired" };

/** Looks a connect link up by the hash of its secret, and changes nothing. */
export async function findConnectLink(sql: Sql, linkHash: Uint8Array): Promise<ConnectLink> {
  const authorization = await findAuthorizationByLink(sql, linkHash);
  if (authorization === undefined) return { kind: "unknown" };
  if (authorization.status !== "issued") return { kind: "used" };
  return authorization.isExpired ? { kind: "expired" } : { kind: "open", authorization };
}
