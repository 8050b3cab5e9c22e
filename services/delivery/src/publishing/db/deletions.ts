import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { readClock } from "@postrider/shared/postgres/clock";
import type { Cause } from "@postrider/shared/telemetry/cause";
import { isRemoved } from "@postrider/shared/workspaces/removed-workspaces";
import type { CallTable } from "#src/calls/table.ts";
import type { DeletionKey, DeletionTask, LeasedDeletion } from "#src/publishing/domain/deletion.ts";

export interface DeletionRequest extends DeletionKey {
  readonly workspaceId: string;
  readonly postId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly externalId: string;
  readonly cause?: Cause;
}

/**
 * SQL condition: this service itself published the post that a deletion names. The event that
 * requests a deletion is not proof of that, because another service wrote it.
 *
 * @param request SQL alias of a row with the columns of `DeletionRequest`.
 */
function isPublishedByUs(sql: ISql, request: ReturnType<typeof sql>) {
  return sql`
    exists (
      select 1
      from publish_tasks p
      where p.target_id = ${request}.target_id
      and p.status = 'published'
      and (p.workspace_id, p.post_id, p.account_id, p.platform, p.external_id)
        = (${request}.workspace_id, ${request}.post_id, ${request}.account_id, ${request}.platform, ${request}.external_id)
    )`;
}

/** SQL expression: the address of the published post of deletion task `t`. */
function permalinkOf(sql: ISql) {
  return sql`
    (
      select p.permalink
      from publish_tasks p
      where p.target_id = t.target_id
      and p.status = 'published'
      and p.external_id = t.external_id
      limit 1
    )`;
}

export function deletionColumns(sql: ISql) {
  return sql`
    t.target_id, t.deletion, t.workspace_id, t.post_id, t.account_id, t.platform, t.external_id, t.status,
    t.wake_at, t.fence, t.crash_count, t.retry_count, t.version, t.error_code, t.error_message,
    t.created_at + interval '24 hours' as send_before, t.cause, ${isPublishedByUs(sql, sql`t`)} as is_published_by_us,
    ${permalinkOf(sql)} as permalink`;
}

/** For `jsonb_to_recordset(…) as k(target_id uuid, deletion int, fence bigint)`. */
function toLeasedRow({ targetId, deletion, fence }: LeasedDeletion) {
  return { target_id: targetId, deletion, fence };
}

function toRequestRow(request: DeletionRequest) {
  return {
    target_id: request.targetId,
    deletion: request.deletion,
    workspace_id: request.workspaceId,
    post_id: request.postId,
    account_id: request.accountId,
    platform: request.platform,
    external_id: request.externalId,
    cause: request.cause ?? null,
  };
}

/**
 * Creates the deletion tasks that do not exist yet; an existing deletion task is not changed,
 * unless it names a post that this service has not published and the new request names the post
 * that this service has published. A deletion waits until no publishing call of its target with an
 * unknown outcome can still arrive at the platform, because such a call could publish the post
 * after its deletion.
 */
export async function insertDeletions(
  sql: ISql,
  requests: readonly DeletionRequest[],
): Promise<void> {
  // Deletion tasks are inserted in the order of their keys, so that two batches with the same
  // targets cannot deadlock.
  await sql`
    insert into deletion_tasks as d (
      target_id, deletion, workspace_id, post_id, account_id, platform, external_id, status, wake_at, cause
    )
    select distinct on (r.target_id, r.deletion)
      r.target_id, r.deletion, r.workspace_id, r.post_id, r.account_id, r.platform, r.external_id,
      'queued',
      greatest(now(), (
        select max(a.call_until)
        from publish_attempts a
        where a.target_id = r.target_id
        and a.outcome = 'unknown'
      )),
      r.cause
    from jsonb_to_recordset(${sql.json(requests.map(toRequestRow))}) as r(
      target_id uuid, deletion int, workspace_id uuid, post_id uuid, account_id uuid, platform text,
      external_id text, cause jsonb
    )
    -- A late event of a deleted workspace.
    where not ${isRemoved(sql, sql`r.workspace_id`)}
    order by r.target_id, r.deletion
    -- A deletion that names a foreign post was not sent to a platform. It must not keep the number of the right one.
    on conflict (target_id, deletion) do update
    set workspace_id = excluded.workspace_id,
      post_id = excluded.post_id,
      account_id = excluded.account_id,
      platform = excluded.platform,
      external_id = excluded.external_id,
      status = 'queued',
      wake_at = excluded.wake_at,
      fence = d.fence + 1,
      lease_owner = null,
      crash_count = 0,
      retry_count = 0,
      version = d.version + 1,
      error_code = null,
      error_message = null,
      updated_at = now(),
      cause = excluded.cause
    where not ${isPublishedByUs(sql, sql`d`)}
    and ${isPublishedByUs(sql, sql`excluded`)}`;
}

/** A key with the id of a workspace that does not own the task finds nothing. */
export async function listDeletions(
  sql: ISql,
  refs: readonly (DeletionKey & { readonly workspaceId: string })[],
): Promise<readonly DeletionTask[]> {
  const rows = refs.map(({ targetId, deletion, workspaceId }) => ({
    target_id: targetId,
    deletion,
    workspace_id: workspaceId,
  }));
  return await sql<DeletionTask[]>`
    select distinct on (t.target_id, t.deletion) ${deletionColumns(sql)}
    from jsonb_to_recordset(${sql.json(rows)})
      as k(target_id uuid, deletion int, workspace_id uuid)
    join deletion_tasks t
      on t.target_id = k.target_id and t.deletion = k.deletion and t.workspace_id = k.workspace_id`;
}

/** Locks the tasks whose fence is still the given one. `now` is the time after the locks. */
export async function lockDeletions(
  tx: TransactionSql,
  leased: readonly LeasedDeletion[],
): Promise<{ readonly tasks: readonly DeletionTask[]; readonly now: Date }> {
  // Deletion tasks are locked in the order of their keys, so that two transactions cannot deadlock.
  const [tasks, now] = await Promise.all([
    tx<DeletionTask[]>`
      select ${deletionColumns(tx)}
      from jsonb_to_recordset(${tx.json(leased.map(toLeasedRow))})
        as k(target_id uuid, deletion int, fence bigint)
      join deletion_tasks t
        on t.target_id = k.target_id and t.deletion = k.deletion and t.fence = k.fence
      where t.status = 'working'
      order by t.target_id, t.deletion
      for update of t`,
    readClock(tx),
  ]);
  return { tasks, now };
}

/**
 * Queued deletions of the accounts wait until an instant. Each meets the limit itself if it would
 * then be too late for it, or if another transaction has locked it (against deadlocks).
 */
export async function delayDeletions(
  tx: TransactionSql,
  holds: readonly { readonly accountId: string; readonly until: Date }[],
): Promise<void> {
  const rows = holds.map(({ accountId, until }) => ({
    account_id: accountId,
    until: until.toISOString(),
  }));
  await tx`
    with waiting as (
      select t.target_id, t.deletion, k.until
      from jsonb_to_recordset(${tx.json(rows)}) as k(account_id uuid, until timestamptz)
      join deletion_tasks t on t.account_id = k.account_id and t.status = 'queued' and t.wake_at < k.until
        and k.until < t.created_at + interval '24 hours'
      for update of t skip locked
    )
    update deletion_tasks t
    set wake_at = w.until
    from waiting w
    where t.target_id = w.target_id
    and t.deletion = w.deletion`;
}

export const DELETION_TABLE: CallTable<DeletionKey, DeletionTask> = {
  rows: (sql) => sql`deletion_tasks`,
  key: (sql) => sql`t.target_id, t.deletion`,
  keyTypes: (sql) => sql`target_id uuid, deletion int`,
  toKey: ({ targetId, deletion }) => ({ target_id: targetId, deletion }),
  isSame: (sql) => sql`t.target_id = k.target_id and t.deletion = k.deletion`,
  touch: (sql) => sql`, updated_at = now()`,
  toRow: () => ({}),
  assignments: (sql) => sql`, lease_owner = null`,
  types: (sql) => sql``,
};
