import type { TransactionSql } from "@postrider/shared/postgres";
import type { TaskKey } from "#src/publishing/domain/task.ts";
import { toKeyRows } from "./tasks.ts";

export interface Cancellation extends TaskKey {
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
}

/** Creates `dropped` tasks where none exists: a later publish request then starts nothing. */
export async function insertTombstones(
  tx: TransactionSql,
  cancellations: readonly Cancellation[],
): Promise<void> {
  const rows = cancellations.map((cancellation) => ({
    target_id: cancellation.targetId,
    generation: cancellation.generation,
    workspace_id: cancellation.workspaceId,
    post_id: cancellation.postId,
    account_id: cancellation.accountId,
    platform: cancellation.platform,
  }));
  // This insert waits for a consumer that is inserting the same tasks, so that the lock statement
  // below finds them. The insert and the consumer insert tasks in the order of their keys, so that
  // the two cannot deadlock.
  await tx`
    insert into publish_tasks (
      target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before, attempt_number, is_cancelled
    )
    select distinct on (r.target_id, r.generation)
      r.target_id, r.generation, r.workspace_id, r.post_id, r.account_id, r.platform, 'dropped',
      now(), now(), now(),
      coalesce((select max(a.number) from publish_attempts a where a.target_id = r.target_id), 0), true
    from jsonb_to_recordset(${tx.json(rows)}) as r(
      target_id uuid, generation int, workspace_id uuid, post_id uuid, account_id uuid, platform text
    )
    order by r.target_id, r.generation
    on conflict (target_id, generation) do nothing`;
}

/** Drops locked tasks and raises their fences, so that no worker can begin a call. */
export async function cancelTasks(tx: TransactionSql, keys: readonly TaskKey[]): Promise<void> {
  await tx`
    update publish_tasks t
    set status = 'dropped',
      is_cancelled = true,
      is_attempt_open = false,
      fence = t.fence + 1,
      lease_owner = null,
      handles = null,
      version = t.version + 1,
      updated_at = now()
    from jsonb_to_recordset(${tx.json(toKeyRows(keys))}) as k(target_id uuid, generation int)
    where t.target_id = k.target_id
    and t.generation = k.generation`;
}
