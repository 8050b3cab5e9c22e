import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { isRemoved } from "@postrider/shared/workspaces/removed-workspaces";
import type { Task, TaskKey } from "#src/publishing/domain/task.ts";

export function taskColumns(sql: ISql) {
  return sql`
    t.target_id, t.generation, t.workspace_id, t.post_id, t.account_id, t.platform, t.status, t.wake_at,
    t.due_at, t.publish_before as send_before, t.fence, t.crash_count, t.attempt_number, t.is_attempt_open, t.retry_count,
    t.unknown_count, t.open_unknowns, t.resend_count, t.looks, t.is_limited, t.is_restored, t.call_number,
    t.first_unknown_at, t.called_at, t.call_until, t.version, t.external_id, t.permalink, t.published_at as finished_at,
    t.external_account_id,
    t.error_code, t.error_message, t.updated_at`;
}

/** For `jsonb_to_recordset(…) as k(target_id uuid, generation int)`. */
export function toKeyRows(keys: readonly TaskKey[]) {
  return keys.map((key) => ({ target_id: key.targetId, generation: key.generation }));
}

export interface PublishRequest {
  readonly targetId: string;
  readonly generation: number;
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly dueAt: Date;
  readonly publishBefore: Date;
  readonly cause?: Cause;
}

function toRequestRow(request: PublishRequest) {
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
 * Locks the publish tasks that already exist for the requests. Returns those that are to be queued
 * again: dropped tasks whose target is not published. Cancelled tasks are left out: the posts
 * service may not have committed the cancellation yet, and would then say that the target is still
 * wanted.
 */
async function lockDropped(tx: TransactionSql, rows: readonly TaskKey[]) {
  // Tasks are locked in the order of their keys, so that two transactions cannot deadlock.
  const locked = await tx<(TaskKey & { isQueuedAgain: boolean })[]>`
    select t.target_id, t.generation,
      t.status = 'dropped' and not t.is_cancelled and not exists (
        select 1
        from publish_tasks s
        where s.target_id = t.target_id
        and s.status = 'published'
      ) as is_queued_again
    from jsonb_to_recordset(${tx.json(toKeyRows(rows))}) as r(target_id uuid, generation int)
    join publish_tasks t on t.target_id = r.target_id and t.generation = r.generation
    order by t.target_id, t.generation
    for update of t`;
  return locked.filter(({ isQueuedAgain }) => isQueuedAgain);
}

/** Existing tasks are not changed. Returns the keys of the new ones. */
async function insertTasks(
  tx: TransactionSql,
  requests: readonly PublishRequest[],
  status: "queued" | "dropped",
): Promise<readonly TaskKey[]> {
  // Publish tasks are inserted in the order of their keys, so that two batches with the same
  // targets cannot deadlock.
  return await tx<TaskKey[]>`
    insert into publish_tasks (
      target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at,
      publish_before, attempt_number, cause, first_due_at, doubted_at, is_doubtful
    )
    select distinct on (r.target_id, r.generation)
      r.target_id, r.generation, r.workspace_id, r.post_id, r.account_id, r.platform, ${status},
      greatest(r.due_at, now()), r.due_at, r.publish_before,
      coalesce((select max(a.number) from publish_attempts a where a.target_id = r.target_id), 0),
      r.cause, least(r.due_at, older.first_due_at), older.doubted_at, coalesce(older.is_doubtful, false)
    from jsonb_to_recordset(${tx.json(requests.map(toRequestRow))}) as r(
      target_id uuid, generation int, workspace_id uuid, post_id uuid, account_id uuid, platform text,
      due_at timestamptz, publish_before timestamptz, cause jsonb
    )
    -- A retry publishes the same content: it was first due with the first generation, and a search of the platform for an
    -- older generation has answered for it too.
    cross join lateral (
      select min(coalesce(s.first_due_at, s.due_at)) as first_due_at, max(s.doubted_at) as doubted_at,
        (array_agg(s.is_doubtful order by s.generation desc))[1] as is_doubtful
      from publish_tasks s
      where s.target_id = r.target_id
      and s.generation < r.generation
    ) as older
    -- A late event of a deleted workspace.
    where not ${isRemoved(tx, tx`r.workspace_id`)}
    order by r.target_id, r.generation
    on conflict (target_id, generation) do nothing
    returning target_id, generation`;
}

async function queueDropped(
  tx: TransactionSql,
  requests: readonly PublishRequest[],
  keys: readonly TaskKey[],
): Promise<void> {
  await tx`
    update publish_tasks t
    set status = 'queued',
      cause = r.cause,
      wake_at = greatest(r.due_at, now()),
      version = t.version + 1,
      updated_at = now()
    from jsonb_to_recordset(${tx.json(requests.map(toRequestRow))}) as r(
      target_id uuid, generation int, due_at timestamptz, cause jsonb
    )
    join jsonb_to_recordset(${tx.json(toKeyRows(keys))}) as k(target_id uuid, generation int)
      on k.target_id = r.target_id and k.generation = r.generation
    where t.target_id = r.target_id
    and t.generation = r.generation`;
}

/**
 * Creates the publish tasks that do not exist yet. A task is kept as long as its post, so a
 * repeated publish request finds it and changes nothing, with one exception: a dropped task is
 * queued again, and its worker asks the posts service whether the target is wanted.
 *
 * @returns The number of tasks that were created or queued again.
 */
export async function insertRequests(
  tx: TransactionSql,
  requests: readonly PublishRequest[],
): Promise<number> {
  const dropped = await lockDropped(tx, requests);
  if (dropped.length === 0) return (await insertTasks(tx, requests, "queued")).length;
  // Queueing tasks locks the queues of their accounts in the order of the accounts, but only within
  // one statement. New tasks are therefore queued by the same statement as the dropped ones, so
  // that two transactions cannot deadlock.
  const inserted = await insertTasks(tx, requests, "dropped");
  await queueDropped(tx, requests, [...dropped, ...inserted]);
  return dropped.length + inserted.length;
}

/** Locks all generations, which decide together, in the order of their keys (no deadlocks). */
export async function lockTasks(
  tx: TransactionSql,
  targetIds: readonly string[],
): Promise<readonly Task[]> {
  return await tx<Task[]>`
    select ${taskColumns(tx)}
    from publish_tasks t
    where t.target_id in ${tx(targetIds)}
    order by t.target_id, t.generation
    for update`;
}

interface StateQuery extends TaskKey {
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
