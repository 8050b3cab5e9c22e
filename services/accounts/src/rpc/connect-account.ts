import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ConnectAccountRequest,
  ConnectAccountResponseSchema,
  ConnectSimulatedAccountsRequest,
  ConnectSimulatedAccountsResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { isSimulated } from "@postrider/platforms/authorization/configure";
import type { Connection } from "@postrider/platforms/authorization/connector";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { invalidRequest, notFound, ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { Semaphore } from "@postrider/shared/limits/semaphore";
import { createSimulatedAccounts } from "#src/clients/simulator.ts";
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

const MAX_COUNT = 1_000;
const MAX_CONCURRENT_CALLS = 16;

/** Undefined when the platform is real. */
function findSimulated({ connectors, simulatorUrl }: Dependencies, platform: string) {
  const configured = isPlatformId(platform) ? connectors[platform] : undefined;
  if (configured === undefined || simulatorUrl === undefined) return undefined;
  if (!isSimulated(configured.baseUrl, simulatorUrl)) return undefined;
  return { connector: configured.connector, simulatorUrl };
}

/** The simulator's response to entered credentials does not contain the permissions. */
function withPermissions(
  connection: Connection,
  scopes: readonly string[] | undefined,
): Connection {
  return scopes === undefined
    ? connection
    : { ...connection, tokens: { ...connection.tokens, scopes } };
}

/** Creates accounts on the simulator and connects them in the same way as real accounts. */
export async function connectSimulatedAccounts(
  deps: Dependencies,
  { workspaceId, platform, username, count }: ConnectSimulatedAccountsRequest,
): Promise<MessageInitShape<typeof ConnectSimulatedAccountsResponseSchema>> {
  if (count < 1 || count > MAX_COUNT)
    throw invalidRequest([{ code: "out_of_range", path: "/count" }]);
  const simulated = findSimulated(deps, platform);
  if (simulated === undefined) throw invalidRequest([{ code: "not_simulated", path: "/platform" }]);
  if (!isId(workspaceId) || (await countWorkspaces(deps.sql, [workspaceId])) === 0)
    throw notFound();
  const { permissions } = simulated.connector;
  const wanted = { platform, username, count, permissions };
  const credentials = await createSimulatedAccounts(simulated.simulatorUrl, wanted);
  const calls = new Semaphore({ total: MAX_CONCURRENT_CALLS, maxWaiting: Infinity });
  const made = await Promise.all(
    credentials.map((each) => calls.run(() => fetchConnection(simulated.connector, each))),
  );
  const connections = made.map((each) => withPermissions(each, permissions));
  const rows = await storeConnections(deps, { workspaceId, platform, connections });
  return { accounts: rows.map((row) => toAccount(row, deps)) };
}
