import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  BatchGetAccountsRequest,
  BatchGetAccountsResponseSchema,
} from "@postrider/contracts/accounts/v1/account_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { listAccountsByKeys } from "#src/db/accounts.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toAccount } from "#src/rpc/to-account.ts";
import { toAccountKeys } from "./to-account-key.ts";

const MAX_REFS = 1_000;

/**
 * Returns accounts by their references. Accounts of another workspace are left out like unknown
 * accounts, so that callers cannot tell them apart.
 */
export async function batchGetAccounts(
  deps: Pick<Dependencies, "sql" | "features">,
  { refs }: BatchGetAccountsRequest,
): Promise<MessageInitShape<typeof BatchGetAccountsResponseSchema>> {
  if (refs.length > MAX_REFS) throw invalidRequest([{ code: "too_many", path: "/refs" }]);
  const rows = await listAccountsByKeys(deps.sql, toAccountKeys(refs));
  return { accounts: rows.map((row) => toAccount(row, deps)) };
}
