import type { Client } from "@connectrpc/connect";
import type { Account } from "@postrider/contracts/accounts/v1/account_pb";
import type { AccountService } from "@postrider/contracts/accounts/v1/account_service_pb";

export type AccountsClient = Pick<Client<typeof AccountService>, "batchGetAccounts">;

interface AccountRef {
  readonly workspaceId: string;
  readonly accountId: string;
}

/** Reads accounts from the accounts service, also disconnected ones. Unknown accounts are missing in the result. */
export async function fetchAccounts(
  client: AccountsClient,
  refs: readonly AccountRef[],
  timeoutMs: () => number,
): Promise<readonly Account[]> {
  const { accounts } = await client.batchGetAccounts(
    { refs: [...refs] },
    { timeoutMs: timeoutMs() },
  );
  return accounts;
}
