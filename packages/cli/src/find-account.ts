import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";
import { WorkspaceService } from "@postrider/contracts/accounts/v1/workspace_service_pb";
import { notFound } from "@postrider/shared/errors";
import { type Arguments, getPositional } from "#src/command.ts";
import { findWorkspace } from "#src/find-workspace.ts";
import type { Services } from "#src/services.ts";

/** Maximum number of accounts that one RPC looks up. */
const MAX_REFS = 1000;

export async function listWorkspaceIds(services: Services): Promise<readonly string[]> {
  const { workspaces } = await services.client("accounts", WorkspaceService).listWorkspaces({});
  return workspaces.map(({ id }) => id);
}

/**
 * Finds an account, connected or disconnected, in whichever workspace it belongs to, so that a
 * person needs to name only the account.
 */
export async function findAccount(
  services: Services,
  accountId: string,
): Promise<Account | undefined> {
  const client = services.client("accounts", AccountService);
  const ids = await listWorkspaceIds(services);
  for (let from = 0; from < ids.length; from += MAX_REFS) {
    const refs = ids
      .slice(from, from + MAX_REFS)
      .map((workspaceId) => ({ workspaceId, accountId }));
    const [account] = (await client.batchGetAccounts({ refs })).accounts;
    if (account !== undefined) return account;
  }
  return undefined;
}

/**
 * Asks the accounts service, because the other services do not know which workspaces exist.
 *
 * @throws `not_found`
 */
export async function getWorkspaceId(services: Services, args: Arguments): Promise<string> {
  const id = getPositional(args);
  if ((await findWorkspace(services, id)) === undefined) throw notFound();
  return id;
}
