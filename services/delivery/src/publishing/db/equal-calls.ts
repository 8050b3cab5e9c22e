import type { ISql } from "@postrider/shared/postgres";
import type { TaskKey } from "#src/publishing/domain/task.ts";

/**
 * Whether another target has an open or unknown call of the same content, for the same account of
 * the platform, of whichever workspace.
 */
export async function hasEqualOpenCall(
  sql: ISql,
  { targetId, generation }: TaskKey,
): Promise<boolean> {
  const [row] = await sql<{ isFound: boolean }[]>`
    select exists (
      select 1
      from publish_tasks o
      where o.account_id = t.account_id
      and o.content_hash = t.content_hash
      and o.status in ('calling', 'unknown', 'reconciling')
    ) or exists (
      select 1
      from publish_tasks o
      where o.platform = t.platform
      and o.external_account_id = t.external_account_id
      and o.content_hash = t.content_hash
      and o.status in ('calling', 'unknown', 'reconciling')
    ) as is_found
    from publish_tasks t
    where t.target_id = ${targetId}
    and t.generation = ${generation}`;
  return row?.isFound ?? false;
}
