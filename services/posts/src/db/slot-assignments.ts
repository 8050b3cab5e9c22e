import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { QueueSlot } from "#src/domain/next-slots.ts";

/** The caller must also set the post's `queue_slot_rule_id` to null. */
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
 * After `after`, in milliseconds since 1970 and in any order. Read as one JSON text, because
 * thousands of rows with a `Date` take ten times as long.
 */
export async function listTakenSlots(
  sql: ISql,
  workspaceId: string,
  after: Date,
): Promise<readonly number[]> {
  const [row] = await sql<{ slots: readonly number[] | null }[]>`
    select json_agg((date_part('epoch', slot_at) * 1000)::bigint) as slots
    from slot_assignments
    where workspace_id = ${workspaceId}
    and slot_at > ${after}`;
  return row?.slots ?? [];
}

/** Neither taken nor over, under the locks of the workspace's rules. */
export async function isSlotFree(
  tx: TransactionSql,
  workspaceId: string,
  { slotAt }: QueueSlot,
): Promise<boolean> {
  const [row] = await tx<{ isFree: boolean }[]>`
    select ${slotAt}::timestamptz > clock_timestamp() and not exists (
      select 1
      from slot_assignments
      where workspace_id = ${workspaceId}
      and slot_at = ${slotAt}
    ) as is_free`;
  return row?.isFree ?? false;
}
