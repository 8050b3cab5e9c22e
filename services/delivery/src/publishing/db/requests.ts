import type { ISql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";

/** A target that is asked to be published at a generation. */
export interface PublishRequest {
  readonly targetId: string;
  readonly generation: number;
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly dueAt: Date;
  readonly publishBefore: Date;
  /** Who asks. */
  readonly cause?: Cause;
}

function toRow(request: PublishRequest) {
  return {
    target_id: request.targetId,
    generation: request.generation,
    workspace_id: request.workspaceId,
    post_id: request.postId,
    account_id: request.accountId,
    platform: request.platform,
    due_at: request.dueAt.toISOString(),
    publish_before: request.publishBefore.toISOString(),
    cause: request.cause ?? null,
  };
}

/**
 * Makes the tasks that do not exist yet. A task stays for ever, so a repeated request finds it and changes nothing. Only a
 * dropped one is woken: its worker asks again whether the target is wanted, and drops it again if it is not. One that was
 * cancelled is not, because its owner may not have written down yet what it cancelled.
 */
export async function insertRequests(
  sql: ISql,
  requests: readonly PublishRequest[],
): Promise<number> {
  // Rows are inserted in key order, so that two batches with the same targets cannot lock each other out.
  const result = await sql`
    insert into publish_tasks as t (
      target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before, attempt_number, cause
    )
    select distinct on (r.target_id, r.generation)
      r.target_id, r.generation, r.workspace_id, r.post_id, r.account_id, r.platform, 'queued',
      greatest(r.due_at, now()), r.due_at, r.publish_before,
      coalesce((select max(a.number) from publish_attempts a where a.target_id = r.target_id), 0),
      r.cause
    from jsonb_to_recordset(${sql.json(requests.map(toRow))}) as r(
      target_id uuid, generation int, workspace_id uuid, post_id uuid, account_id uuid, platform text,
      due_at timestamptz, publish_before timestamptz, cause jsonb
    )
    order by r.target_id, r.generation
    on conflict (target_id, generation) do update
    set status = 'queued',
      cause = excluded.cause,
      wake_at = greatest(excluded.due_at, now()),
      version = t.version + 1,
      updated_at = now()
    where t.status = 'dropped'
    and not t.is_cancelled
    and not exists (
      select 1
      from publish_tasks s
      where s.target_id = t.target_id
      and s.status = 'published'
    )`;
  return result.count;
}
