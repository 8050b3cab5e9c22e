import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ConnectSimulatedAccountsRequest,
  ConnectSimulatedAccountsResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { isSimulated } from "@postrider/platforms/authorization/registry";
import { isPlatformId } from "@postrider/platforms/registry";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import { createSimulatedAccounts } from "#src/clients/simulator.ts";
import { countWorkspaces } from "#src/db/workspaces.ts";
import type { Deps } from "#src/rpc/deps.ts";
import { logIn } from "#src/rpc/log-in.ts";
import { mapBounded } from "#src/rpc/map-bounded.ts";
import { storeConnections } from "#src/rpc/store-connections.ts";
import { toAccount } from "#src/rpc/to-account.ts";

const MAX_COUNT = 1_000;
const LOGINS_AT_ONCE = 16;

/** The platform's connector and the simulator that stands behind it; undefined when it is the real platform. */
function findSimulated({ connectors, simulatorUrl }: Deps, platform: string) {
  const configured = isPlatformId(platform) ? connectors[platform] : undefined;
  if (configured === undefined || simulatorUrl === undefined) return undefined;
  if (!isSimulated(configured.baseUrl, simulatorUrl)) return undefined;
  return { connector: configured.connector, simulatorUrl };
}

/** Makes accounts on the simulator and connects them the way real ones are connected. */
export async function connectSimulatedAccounts(
  deps: Deps,
  { workspaceId, platform, username, count }: ConnectSimulatedAccountsRequest,
): Promise<MessageInitShape<typeof ConnectSimulatedAccountsResponseSchema>> {
  if (count < 1 || count > MAX_COUNT)
    throw invalidRequest([{ code: "out_of_range", path: "/count" }]);
  const simulated = findSimulated(deps, platform);
  if (simulated === undefined) throw invalidRequest([{ code: "not_simulated", path: "/platform" }]);
  if (!isId(workspaceId) || (await countWorkspaces(deps.sql, [workspaceId])) === 0)
    throw notFound();
  const wanted = { platform, username, count };
  const logins = await createSimulatedAccounts(simulated.simulatorUrl, wanted);
  const connections = await mapBounded(logins, LOGINS_AT_ONCE, (login) =>
    logIn(simulated.connector, login),
  );
  const rows = await storeConnections(deps, workspaceId, platform, connections);
  return { accounts: rows.map(toAccount) };
}
