import type { RevokedTokens } from "@postrider/platforms/authorization/connector";
import { reasonNotToRevoke, type Revocation } from "@postrider/platforms/authorization/revocation";
import { isPlatformId } from "@postrider/platforms/registry";
import { readOwnership } from "@postrider/shared/deployment/table";
import { isConnectedElsewhere, type AccountKey } from "#src/db/accounts.ts";
import type { DeletedTokens } from "#src/db/credentials.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { unsealToken } from "#src/operations/token-sealing.ts";

type RevokeDependencies = Pick<
  Dependencies,
  "sql" | "logger" | "connectors" | "credentialKeys" | "deploymentId"
>;

/**
 * Time limit in milliseconds for the platform's answer to a token revocation. The account is already disconnected, so
 * the caller should not wait longer.
 */
const REVOKE_TIMEOUT_MS = 8_000;
const NOT_CONFIGURED: Revocation = { outcome: "not_attempted", reason: "not_configured" };
const SHARED_GRANT: Revocation = { outcome: "not_attempted", reason: "app_wide_grant" };

/**
 * Decrypts the deleted tokens of a disconnected account. Returns undefined when a token cannot be unsealed, because the
 * platform cannot be called without the token.
 */
function unsealDeleted(
  deps: RevokeDependencies,
  accountId: string,
  { accessToken, refreshToken, attributes }: DeletedTokens,
): RevokedTokens | undefined {
  if (accessToken === null) return undefined;
  try {
    return {
      accessToken: unsealToken(deps, accountId, "access_token", accessToken),
      refreshToken:
        refreshToken === null
          ? undefined
          : unsealToken(deps, accountId, "refresh_token", refreshToken),
      attributes,
    };
  } catch (error) {
    deps.logger.error(
      { err: error, accountId },
      "tokens were not revoked at the platform because they cannot be decrypted; add the missing key to CREDENTIAL_KEYS",
    );
    return undefined;
  }
}

/**
 * Asks the platform to revoke tokens that are already deleted from the database. Never throws: the account stays
 * disconnected whatever the platform answers, and the answer is only logged.
 */
export async function revokeTokens(
  deps: RevokeDependencies,
  { accountId, platform }: AccountKey & { readonly platform: string },
  deleted: DeletedTokens,
): Promise<Revocation> {
  if (!isPlatformId(platform)) return NOT_CONFIGURED;
  const { sql, connectors, logger, deploymentId } = deps;
  // If the database does not answer, the person's grant is treated as shared with another workspace, because revoking a
  // shared grant would disconnect the account of that workspace, too.
  const isShared = await isConnectedElsewhere(sql, accountId).catch(() => true);
  const reason = reasonNotToRevoke(platform, isShared);
  if (reason !== undefined) return { outcome: "not_attempted", reason };
  const isOwn = await readOwnership(sql, deploymentId).then(
    ({ kind }) => kind === "own",
    () => false,
  );
  // If the database is a copy of another deployment's database, that deployment still uses the tokens, so they must not
  // be revoked.
  if (!isOwn) return SHARED_GRANT;
  const revoke = connectors[platform]?.connector.revoke;
  const tokens = unsealDeleted(deps, accountId, deleted);
  if (revoke === undefined || tokens === undefined) return NOT_CONFIGURED;
  const result = await revoke(tokens, AbortSignal.timeout(REVOKE_TIMEOUT_MS));
  const answer = result.kind === "confirmed" ? "confirmed" : result.message;
  logger.info({ accountId, platform, answer }, "the platform was asked to revoke tokens");
  return { outcome: "unconfirmed" };
}
