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

/** The first that is neither taken nor over, under the locks of the workspace's rules. */
export async function findFreeSlot(
  tx: TransactionSql,
  workspaceId: string,
  slots: readonly QueueSlot[],
): Promise<QueueSlot | undefined> {
  const instants = slots.map(({ slotAt }) => slotAt.toISOString());
  const [row] = await tx<{ index: number | null }[]>`
    select min(number)::int - 1 as index
    from unnest(${instants}::text[]::timestamptz[]) with ordinality as found (slot_at, number)
    where slot_at > clock_timestamp()
    and not exists (
      select 1
      from slot_assignments as taken
      where taken.workspace_id = ${workspaceId}
      and taken.slot_at = found.slot_at
    )`;
  return slots[row?.index ?? -1];
}
