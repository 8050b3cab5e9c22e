import type { AccountRef } from "@postrider/contracts/accounts/v1/account_service_pb";
import { isId } from "@postrider/shared/ids";
import type { AccountKey } from "#src/db/accounts.ts";

/** The ref's ids, or undefined when they cannot be anybody's. */
export function toAccountKey(ref: AccountRef | undefined): AccountKey | undefined {
  if (ref === undefined || !isId(ref.workspaceId) || !isId(ref.accountId)) return undefined;
  return { workspaceId: ref.workspaceId, accountId: ref.accountId };
}

/** The refs that can be somebody's. */
export function toAccountKeys(refs: readonly AccountRef[]): readonly AccountKey[] {
  return refs.map(toAccountKey).filter((key) => key !== undefined);
}
