import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import { isPlatformId, type PlatformId } from "@postrider/platforms/registry";
import { notFound } from "@postrider/shared/errors";
import type { AccountRef, AccountsClients } from "#src/clients/accounts.ts";

const TIMEOUT_MS = 5_000;

/**
 * Returns an account of a workspace, also one that must be connected again.
 * @throws `not_found` for an unknown or disconnected account, and for an account of another workspace.
 */
export async function getConnectedAccount(
  { accounts }: { readonly accounts: Pick<AccountsClients, "accounts"> },
  { workspaceId, accountId }: AccountRef,
): Promise<Account & { readonly platform: PlatformId }> {
  const refs = [{ workspaceId, accountId }];
  const found = await accounts.accounts.batchGetAccounts({ refs }, { timeoutMs: TIMEOUT_MS });
  const [account] = found.accounts;
  if (account === undefined || account.status === "disconnected") throw notFound();
  const { platform } = account;
  if (!isPlatformId(platform)) throw notFound();
  return { ...account, platform };
}
