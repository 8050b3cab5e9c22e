import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetPostingAccountsRequest,
  BatchGetPostingAccountsResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { describePostingAccounts } from "#src/db/accounts.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toAccountKeys } from "./to-account-key.ts";

const MAX_ACCOUNTS = 10_000;

export async function batchGetPostingAccounts(
  deps: Pick<Dependencies, "sql">,
  { workspaces }: BatchGetPostingAccountsRequest,
): Promise<MessageInitShape<typeof BatchGetPostingAccountsResponseSchema>> {
  const refs = workspaces.flatMap(({ workspaceId, accountIds }) =>
    accountIds.map((accountId) => ({ workspaceId, accountId })),
  );
  if (refs.length > MAX_ACCOUNTS) throw invalidRequest([{ code: "too_many", path: "/workspaces" }]);
  return { accounts: await describePostingAccounts(deps.sql, toAccountKeys(refs)) };
}
