import type { ISql } from "@postrider/shared/postgres";
import type { Handles } from "#src/domain/connector.ts";
import type { HeldKey } from "#src/domain/held-task.ts";

/**
 * Stores what a step has made, for as long as the task is ours.
 *
 * @returns False when somebody else has the task: then nothing was stored.
 */
export async function storeHandles(sql: ISql, held: HeldKey, handles: Handles): Promise<boolean> {
  // The lock keeps a claim from coming between the check of the fence and the write: what is stored is always what the
  // holder of the fence knows.
  const rows = await sql`
    with ours as (
      select target_id, generation, workspace_id
      from publish_tasks
      where target_id = ${held.targetId}
      and generation = ${held.generation}
      and fence = ${held.fence}
      and status in ('working', 'reconciling')
      for share
    )
    insert into task_handles (target_id, generation, workspace_id, handles)
    select target_id, generation, workspace_id, ${sql.json(handles)}
    from ours
    on conflict (target_id, generation) do update
    set handles = excluded.handles
    returning 1`;
  return rows.length > 0;
}
