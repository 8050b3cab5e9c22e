import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  GetAuthorizationRequest,
  GetAuthorizationResponseSchema,
} from "@postrider/contracts/accounts/v1/authorization_service_pb";
import { notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { listAccountsByKeys } from "#src/db/accounts.ts";
import { findAuthorizationById, type AuthorizationRow } from "#src/db/authorizations.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toAccount } from "#src/rpc/to-account.ts";

/**
 * Converts an authorization to the progress that the RPC returns. An authorization that expired
 * before it ended is reported as failed, whatever status is stored.
 */
function toProgress({ status, failure, isExpired }: AuthorizationRow) {
  if (status === "connected") return { status };
  if (status === "failed") return { status, failure: failure ?? "refused" };
  return isExpired ? { status: "failed", failure: "expired" } : { status: "waiting" };
}

export async function getAuthorization(
  deps: Pick<Dependencies, "sql" | "features">,
  { id, workspaceId: owner }: GetAuthorizationRequest,
): Promise<MessageInitShape<typeof GetAuthorizationResponseSchema>> {
  const authorization = isId(id) ? await findAuthorizationById(deps.sql, id) : undefined;
  if (authorization === undefined) throw notFound();
  const { workspaceId, accountIds } = authorization;
  if (owner !== undefined && owner !== workspaceId) throw notFound();
  const keys = accountIds.map((accountId) => ({ workspaceId, accountId }));
  const rows = keys.length === 0 ? [] : await listAccountsByKeys(deps.sql, keys);
  return { ...toProgress(authorization), accounts: rows.map((row) => toAccount(row, deps)) };
}
