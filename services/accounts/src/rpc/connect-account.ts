import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ConnectAccountRequest,
  ConnectAccountResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { invalidRequest, notFound, ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { takeConnectAttempt } from "#src/db/connect-budgets.ts";
import { countWorkspaces } from "#src/db/workspaces.ts";
import { getConfiguredPlatform } from "#src/operations/configured-platform.ts";
import { fetchConnection, storeConnections } from "#src/operations/connections.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toAccount } from "#src/rpc/to-account.ts";

/**
 * One workspace that tries out credentials would otherwise use up the calls that the platform
 * allows our address, of which publishing lives, too.
 */
async function assertWithinBudget(
  { sql }: Pick<Dependencies, "sql">,
  { workspaceId, platform }: Pick<ConnectAccountRequest, "workspaceId" | "platform">,
): Promise<void> {
  const waitMs = await takeConnectAttempt(sql, workspaceId, platform);
  if (waitMs > 0) throw new ServiceError("conflict", "rate_limited", [], { retryAfterMs: waitMs });
}

/**
 * Connects an account with the credentials that a person entered. An account of a platform with an
 * authorization page can be connected only on that page.
 */
export async function connectAccount(
  deps: Dependencies,
  request: ConnectAccountRequest,
): Promise<MessageInitShape<typeof ConnectAccountResponseSchema>> {
  const { workspaceId, platform, login: credentials } = request;
  const { connector } = getConfiguredPlatform(deps, platform);
  if (connector.codeFlow !== undefined)
    throw invalidRequest([{ code: "not_available", path: "/platform" }]);
  if (!isId(workspaceId) || (await countWorkspaces(deps.sql, [workspaceId])) === 0)
    throw notFound();
  await assertWithinBudget(deps, request);
  const connection = await fetchConnection(connector, credentials);
  const connections = [connection];
  const [row] = await storeConnections(deps, { workspaceId, platform, connections });
  return row === undefined ? {} : { account: toAccount(row, deps) };
}
