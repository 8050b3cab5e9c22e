import type { ISql } from "@postrider/shared/postgres";
import type { TaskKey } from "#src/publishing/domain/task.ts";
import { isDoubtful } from "./deployment.ts";

/** A publish task with an unknown outcome, for another target of the account of the examined target. */
export interface UncertainTask extends TaskKey {
  readonly workspaceId: string;
}

/**
 * Returns the publish tasks of other targets of the account that may have published a post although the data does not
 * say so: their outcome is unknown, or a restore from a backup made them uncertain.
 */
export async function listUncertainTasks(
  sql: ISql,
  { accountId, targetId }: { readonly accountId: string; readonly targetId: string },
  limit: number,
): Promise<readonly UncertainTask[]> {
  return await sql<UncertainTask[]>`
    select t.workspace_id, t.target_id, t.generation
    from publish_tasks t
    cross join deployment d
    where t.account_id = ${accountId}
    and t.target_id <> ${targetId}
    and (
      t.status in ('calling', 'unknown', 'reconciling')
      or (t.status in ('queued', 'working') and ${isDoubtful(sql)})
    )
    limit ${limit}`;
}
