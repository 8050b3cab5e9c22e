import { isId } from "@postrider/shared/ids";
import type { AccountKey } from "#src/db/accounts.ts";

/**
 * Converts an account reference of an RPC request to an account key. Returns undefined when one of
 * its ids is not a UUID, because such an account cannot exist.
 */
export function toAccountKey(ref: AccountKey | undefined): AccountKey | undefined {
  if (ref === undefined || !isId(ref.workspaceId) || !isId(ref.accountId)) return undefined;
  return { workspaceId: ref.workspaceId, accountId: ref.accountId };
}

/** Leaves out references with an id that is not a UUID. */
export function toAccountKeys(refs: readonly AccountKey[]): readonly AccountKey[] {
  return refs.map(toAccountKey).filter((key) => key !== undefined);
}
