import type { AccountRef } from "@postrider/contracts/accounts/v1/account_service_pb";
import { isId } from "@postrider/shared/ids";
import type { AccountKey } from "#src/db/accounts.ts";

/** The key that a ref names; undefined when one of its ids is not a UUID, so that the account cannot exist. */
export function toAccountKey(ref: AccountRef | undefined): AccountKey | undefined {
  if (ref === undefined || !isId(ref.workspaceId) || !isId(ref.accountId)) return undefined;
  return { workspaceId: ref.workspaceId, accountId: ref.accountId };
}

/** The keys of those refs whose ids are UUIDs. */
export function toAccountKeys(refs: readonly AccountRef[]): readonly AccountKey[] {
  return refs.map(toAccountKey).filter((key) => key !== undefined);
}
