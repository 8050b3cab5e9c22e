import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListAccountsRequest,
  ListAccountsResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { isId } from "@postrider/shared/ids";
import { listAccountsOfWorkspace } from "#src/db/accounts.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toAccount } from "#src/rpc/to-account.ts";

export async function listAccounts(
  deps: Pick<Dependencies, "sql" | "features">,
  { workspaceId }: ListAccountsRequest,
): Promise<MessageInitShape<typeof ListAccountsResponseSchema>> {
  const rows = isId(workspaceId) ? await listAccountsOfWorkspace(deps.sql, workspaceId) : [];
  return { accounts: rows.map((row) => toAccount(row, deps)) };
}
