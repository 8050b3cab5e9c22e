import type { Sql } from "@postrider/shared/postgres";
import { findAuthorizationByLink, type AuthorizationRow } from "#src/db/authorizations.ts";

/**
 * The result of looking up a connect link: the authorization that it can open, or the reason why it cannot be opened.
 */
export type ConnectLink =
  | { readonly kind: "open"; readonly authorization: AuthorizationRow }
  | { readonly kind: "unknown" | "used" | "expired" };

/** Finds the authorization of a connect link by the hash of the link's secret, without changing it. */
export async function findConnectLink(sql: Sql, linkHash: Uint8Array): Promise<ConnectLink> {
  const authorization = await findAuthorizationByLink(sql, linkHash);
  if (authorization === undefined) return { kind: "unknown" };
  if (authorization.status !== "issued") return { kind: "used" };
  return authorization.isExpired ? { kind: "expired" } : { kind: "open", authorization };
}
