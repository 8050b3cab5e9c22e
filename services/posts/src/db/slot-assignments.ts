import type { ISql, TransactionSql } from "@postrider/shared/postgres";

/** Frees the queue slot of a post. The caller must also set the post's `queue_slot_rule_id` to null. */
export async function freeSlot(
  tx: TransactionSql,
  { workspaceId, postId }: { readonly workspaceId: string; readonly postId: string },
): Promise<void> {
  await tx`
    delete from slot_assignments
    where workspace_id = ${workspaceId}
    and post_id = ${postId}`;
}

/**
 * Lists the queue slots of a workspace that posts have taken and that are later than `after`, in milliseconds since
 * 1970.
 */
export async function listTakenSlots(
  sql: ISql,
  workspaceId: string,
  after: Date,
): Promise<ReadonlySet<number>> {
  const rows = await sql<{ slotAt: Date }[]>`
    select slot_at
    from slot_assignments
    where workspace_id = ${workspaceId}
    and slot_at > ${after}`;
  return new Set(rows.map(({ slotAt }) => slotAt.getTime()));
}
