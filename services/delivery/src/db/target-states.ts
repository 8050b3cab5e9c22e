import type { ISql } from "@postrider/shared/postgres";
import { taskColumns } from "#src/db/task-columns.ts";
import type { Task } from "#src/domain/task.ts";

/** A target at the generation that its owner has. */
export interface StateQuery {
  readonly workspaceId: string;
  readonly targetId: string;
  readonly generation: number;
}

/**
 * What there is to say about targets: a success of any generation, else the state at the generation asked for. A dropped
 * task counts as none, so that its owner asks for it again if it is wanted after all.
 */
export async function listTargetStates(
  sql: ISql,
  queries: readonly StateQuery[],
): Promise<readonly Task[]> {
  const rows = queries.map((query) => ({
    workspace_id: query.workspaceId,
    target_id: query.targetId,
    generation: query.generation,
  }));
  return await sql<Task[]>`
    select distinct on (t.target_id, k.generation) ${taskColumns(sql)}
    from jsonb_to_recordset(${sql.json(rows)})
      as k(workspace_id uuid, target_id uuid, generation int)
    join publish_tasks t on t.target_id = k.target_id and t.workspace_id = k.workspace_id
    where t.status = 'published'
    or (t.generation = k.generation and t.status <> 'dropped')
    order by t.target_id, k.generation, t.status = 'published' desc`;
}
