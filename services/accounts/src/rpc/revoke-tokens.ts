import type { RevokedTokens } from "@postrider/platforms/authorization/connector";
import { reasonNotToRevoke, type Revocation } from "@postrider/platforms/authorization/revocation";
import { isPlatformId } from "@postrider/platforms/registry";
import { isConnectedElsewhere, type AccountKey } from "#src/db/accounts.ts";
import type { DestroyedTokens } from "#src/db/credentials.ts";
import { findHold } from "#src/db/deployment.ts";
import { unsealToken } from "#src/rpc/credential-seals.ts";
import type { Deps } from "#src/rpc/deps.ts";

type RevokeDeps = Pick<Deps, "sql" | "logger" | "connectors" | "credentialKeys" | "deploymentId">;
type RevokedAccount = AccountKey & { readonly platform: string };

/** The account is disconnected already, so nobody has to wait long for a platform in trouble. */
const REVOKE_TIMEOUT_MS = 8_000;
const NOT_CONFIGURED: Revocation = { outcome: "not_attempted", reason: "not_configured" };
/** The original goes on with the approval, and with the very tokens, of which this is the copy. */
const HELD: Revocation = { outcome: "not_attempted", reason: "app_wide_grant" };

/** Undefined when they do not open: then there is nothing that the platform could be asked with. */
function unsealDestroyed(
  deps: RevokeDeps,
  accountId: string,
  { accessToken, refreshToken, attributes }: DestroyedTokens,
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
    deps.logger.error({ err: error, accountId }, "tokens cannot be revoked");
    return undefined;
  }
}

/**
 * Asks the platform to take our permission back, where it may be asked. Never throws: the local part is complete, and
 * what the platform answers goes to the log only.
 */
export async function revokeTokens(
  deps: RevokeDeps,
  { accountId, platform }: RevokedAccount,
  destroyed: DestroyedTokens,
): Promise<Revocation> {
  if (!isPlatformId(platform)) return NOT_CONFIGURED;
  const { connectors, logger } = deps;
  // Not knowing is taken for shared: the connections of other workspaces are not to be ended by a guess.
  const isShared = await isConnectedElsewhere(deps.sql, accountId).catch(() => true);
  const reason = reasonNotToRevoke(platform, isShared);
  if (reason !== undefined) return { outcome: "not_attempted", reason };
  const isOurs = await findHold(deps.sql, deps.deploymentId).then(
    (hold) => hold === null,
    () => false,
  );
  if (!isOurs) return HELD;
  const revoke = connectors[platform]?.connector.revoke;
  const tokens = unsealDestroyed(deps, accountId, destroyed);
  if (revoke === undefined || tokens === undefined) return NOT_CONFIGURED;
  const result = await revoke(tokens, AbortSignal.timeout(REVOKE_TIMEOUT_MS));
  const said = result.kind === "confirmed" ? "confirmed" : result.message;
  logger.info({ accountId, platform, reason: said }, "the platform was asked to revoke");
  return { outcome: "unconfirmed" };
}
