import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ConnectAccountRequest,
  ConnectAccountResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { countWorkspaces } from "#src/db/workspaces.ts";
import { getConfiguredPlatform } from "#src/rpc/configured-platform.ts";
import type { Deps } from "#src/rpc/deps.ts";
import { logIn } from "#src/rpc/log-in.ts";
import { storeConnections } from "#src/rpc/store-connections.ts";
import { toAccount } from "#src/rpc/to-account.ts";

/** Where a platform has a page of its own, nobody types tokens in. */
export async function connectAccount(
  deps: Deps,
  { workspaceId, platform, login }: ConnectAccountRequest,
): Promise<MessageInitShape<typeof ConnectAccountResponseSchema>> {
  const { connector } = getConfiguredPlatform(deps, platform);
  if (connector.codeFlow !== undefined)
    throw invalidRequest([{ code: "not_available", path: "/platform" }]);
  if (!isId(workspaceId) || (await countWorkspaces(deps.sql, [workspaceId])) === 0)
    throw notFound();
  const connection = await logIn(connector, login);
  const [row] = await storeConnections(deps, workspaceId, platform, [connection]);
  return row === undefined ? {} : { account: toAccount(row) };
}
