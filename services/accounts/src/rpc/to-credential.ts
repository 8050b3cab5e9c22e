import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AccountRef } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { CredentialSchema } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { CredentialRow } from "#src/db/credentials.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { unsealToken } from "#src/operations/token-sealing.ts";

/**
 * Converts a stored credential to its RPC message. The message contains the access token only while the account is
 * active.
 */
export function toCredential(
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
    accessToken: isUsable ? unsealToken(deps, row.accountId, "access_token", accessToken) : "",
    attributes: { ...row.attributes },
    version: BigInt(row.version),
    ...(row.expiresAt === null ? {} : { expiresAt: timestampFromDate(row.expiresAt) }),
  };
}
