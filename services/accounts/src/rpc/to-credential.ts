import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AccountRef } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { CredentialSchema } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { unavailable } from "@postrider/shared/errors";
import type { CredentialRow } from "#src/db/credentials.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { endUnusableToken } from "#src/operations/require-account-reconnect.ts";
import { unsealToken } from "#src/operations/token-sealing.ts";

/**
 * Converts a stored credential to its RPC message.
 *
 * @throws SealError when the access token cannot be decrypted.
 */
function toMessage(
  deps: Pick<Dependencies, "credentialKeys">,
  ref: AccountRef | undefined,
  row: CredentialRow | undefined,
): MessageInitShape<typeof CredentialSchema> {
  const { workspaceId = "", accountId = "" } = ref ?? {};
  const named = { ref: { workspaceId, accountId } };
  if (row === undefined) return { ...named, accountStatus: "unknown" };
  const { accessToken } = row;
  const isUsable = row.accountStatus === "active" && accessToken !== null;
  return {
    ...named,
    accountStatus: row.accountStatus,
    externalId: row.externalId,
    username: row.username,
    accessToken: isUsable ? unsealToken(deps, row, "access_token", accessToken) : "",
    attributes: { ...row.attributes },
    version: BigInt(row.version),
    ...(row.expiresAt === null ? {} : { expiresAt: timestampFromDate(row.expiresAt) }),
  };
}

/**
 * Converts a stored credential to its RPC message. The message contains the access token only while
 * the account is active. An access token that cannot be decrypted makes the account need a
 * reconnect, and does not affect the other accounts of the request.
 */
export async function toCredential(
  deps: Pick<Dependencies, "sql" | "logger" | "nudge" | "credentialKeys">,
  ref: AccountRef | undefined,
  row: CredentialRow | undefined,
): Promise<MessageInitShape<typeof CredentialSchema>> {
  try {
    return toMessage(deps, ref, row);
  } catch (error) {
    if (row === undefined) throw error;
    // While an operator rolls out a new encryption key, other replicas may already have the key, so
    // the caller may try again.
    if ((await endUnusableToken(deps, row, error)) === "missing_key") throw unavailable(error);
    return toMessage(deps, ref, { ...row, accountStatus: "reconnect_required" });
  }
}
