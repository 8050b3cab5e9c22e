import type { RevokedTokens } from "@postrider/platforms/authorization/connector";
import { reasonNotToRevoke, type Revocation } from "@postrider/platforms/authorization/revocation";
import { AUTHORIZATIONS } from "@postrider/platforms/authorizations";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { readOwnership } from "@postrider/shared/deployment/table";
import type { AccountKey } from "#src/db/accounts.ts";
import { isConnectedElsewhere } from "#src/db/grantors.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

type RevokeDependencies = Pick<
  Dependencies,
  "sql" | "logger" | "connectors" | "deploymentId" | "otherCells"
>;

/** The account is already disconnected, so the caller should not wait longer. */
const REVOKE_TIMEOUT_MS = 8_000;
const NOT_CONFIGURED: Revocation = { outcome: "not_attempted", reason: "not_configured" };
const SHARED_GRANT: Revocation = { outcome: "not_attempted", reason: "app_wide_grant" };

/**
 * Asks the platform to revoke tokens that are already deleted from the database. Never throws: the
 * account stays disconnected whatever the platform answers, and the answer is only logged.
 *
 * @param readTokens Returns the tokens, or undefined when they cannot be decrypted. Called only if
 *   they can be revoked.
 */
export async function revokeTokens(
  deps: RevokeDependencies,
  { accountId, platform }: AccountKey & { readonly platform: string },
  readTokens: () => RevokedTokens | undefined,
): Promise<Revocation> {
  if (!isPlatformId(platform)) return NOT_CONFIGURED;
  const { sql, connectors, logger, deploymentId, otherCells } = deps;
  // If the database does not answer, the person's grant is treated as shared with another
  // workspace, because revoking a shared grant would disconnect the account of that workspace, too.
  // The same holds for other cells, whose accounts this one does not know.
  const isShared =
    otherCells.size > 0 || (await isConnectedElsewhere(sql, accountId).catch(() => true));
  const reason = reasonNotToRevoke(AUTHORIZATIONS[platform].revocation, isShared);
  if (reason !== undefined) return { outcome: "not_attempted", reason };
  const isOwn = await readOwnership(sql, deploymentId).then(
    ({ kind }) => kind === "own",
    () => false,
  );
  // If the database is a copy of another deployment's database, that deployment still uses the
  // tokens, so they must not be revoked.
  if (!isOwn) return SHARED_GRANT;
  const revoke = connectors[platform]?.connector.revoke;
  const tokens = revoke === undefined ? undefined : readTokens();
  if (revoke === undefined || tokens === undefined) return NOT_CONFIGURED;
  const result = await revoke(tokens, AbortSignal.timeout(REVOKE_TIMEOUT_MS));
  const refusal = result.kind === "confirmed" ? undefined : result.message;
  logger.info(
    { accountId, platform, outcome: result.kind, reason: refusal },
    "the platform was asked to revoke the tokens of an account",
  );
  return { outcome: "unconfirmed" };
}
