import type { ISql } from "@postrider/shared/postgres";
import type { Task, TaskKey } from "#src/publishing/domain/task.ts";
import { taskColumns } from "./tasks.ts";

export interface StateQuery extends TaskKey {
  readonly workspaceId: string;
}

function toRows(queries: readonly StateQuery[]) {
  return queries.map((query) => ({
    workspace_id: query.workspaceId,
    target_id: query.targetId,
    generation: query.generation,
  }));
}

/**
 * A success of any generation comes before the state of the latest. Dropped is reported as unknown:
 * the posts service requests the target again if it is still wanted.
 */
export async function listTargetStates(
  sql: ISql,
  queries: readonly StateQuery[],
): Promise<readonly Task[]> {
  return await sql<Task[]>`
    select distinct on (t.target_id, k.generation) ${taskColumns(sql)}
    from jsonb_to_recordset(${sql.json(toRows(queries))})
      as k(workspace_id uuid, target_id uuid, generation int)
    join publish_tasks t on t.target_id = k.target_id and t.workspace_id = k.workspace_id
    where t.status = 'published'
    or (t.generation = k.generation and t.status <> 'dropped')
    order by t.target_id, k.generation, t.status = 'published' desc`;
}

/**
 * Targets that were cancelled before their publish request arrived: a request with the same
 * generation starts nothing.
 */
export async function listCancelled(
  sql: ISql,
  queries: readonly StateQuery[],
): Promise<readonly TaskKey[]> {
  return await sql<TaskKey[]>`
    select t.target_id, t.generation
    from jsonb_to_recordset(${sql.json(toRows(queries))})
      as k(workspace_id uuid, target_id uuid, generation int)
    join publish_tasks t
      on t.target_id = k.target_id and t.generation = k.generation and t.workspace_id = k.workspace_id
    where t.status = 'dropped'
    and t.is_cancelled`;
}
