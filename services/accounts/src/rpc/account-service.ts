import type { ServiceImpl } from "@connectrpc/connect";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { batchGetAccounts } from "#src/rpc/batch-get-accounts.ts";
import { connectAccount } from "#src/rpc/connect-account.ts";
import { connectSimulatedAccounts } from "#src/rpc/connect-simulated-accounts.ts";
import { disconnectAccount } from "#src/rpc/disconnect-account.ts";
import { listAccounts } from "#src/rpc/list-accounts.ts";
import { requireReconnect } from "#src/rpc/require-reconnect.ts";

export function createAccountService(deps: Dependencies) {
  return {
    listAccounts: (request) => listAccounts(deps, request),
    batchGetAccounts: (request) => batchGetAccounts(deps, request),
    connectSimulatedAccounts: (request) => connectSimulatedAccounts(deps, request),
    connectAccount: (request) => connectAccount(deps, request),
    disconnectAccount: (request) => disconnectAccount(deps, request),
    requireReconnect: (request) => requireReconnect(deps, request),
  } satisfies ServiceImpl<typeof AccountService>;
}
