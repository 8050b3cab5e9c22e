import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { TaskKey } from "#src/publishing/domain/task.ts";

/** How long a task rests behind an equal call, which can end before its next search. */
const MIN_REST_SECONDS = 1;
const MAX_REST_SECONDS = 60;
/** Behind one in work, which ends soon. Until then all that wait are written again each time. */
const MAX_REST_IN_WORK_SECONDS = 10;
/** Of the time for which it has waited. */
const REST_SHARE = 0.25;
/** How many due tasks of an account are compared. Limits the time of a claim. */
const MAX_COMPARED = 1_000;

/**
 * Until when the queued task `t` may not be sent, because the call of another target with the same
 * content is open on its account of the platform, of whichever workspace; null if it may, if its
 * content is not known, or if it is too late, so that it is claimed and ends. A refused mark notes
 * content and account.
 */
export function restUntil(sql: ISql) {
  return sql`
    case when t.status = 'queued' and t.content_hash is not null and t.publish_before > now() then (
      select greatest(now() + ${MIN_REST_SECONDS} * interval '1 second', case
          when o.status = 'unknown' then least(o.wake_at, now() + ${MAX_REST_SECONDS} * interval '1 second')
          else now() + least((now() - t.due_at) * ${REST_SHARE}::float8, ${MAX_REST_IN_WORK_SECONDS} * interval '1 second')
        end)
      from publish_tasks o
      where o.platform = t.platform
      and o.external_account_id = t.external_account_id
      and o.content_hash = t.content_hash
      and o.status in ('calling', 'unknown', 'reconciling')
    ) end`;
}

/** The account has a task, due since `restFrom`, that may not be sent before `restUntil`. */
export interface BlockedAccount {
  readonly accountId: string;
  readonly contentHash: string;
  readonly restFrom: Date;
  readonly restUntil: Date;
}

/**
 * Lets due tasks with that content rest, so that the next claim finds the other tasks of their
 * accounts. Locked tasks are skipped, because a claim never waits.
 */
export async function restTasks(
  tx: TransactionSql,
  blocked: readonly BlockedAccount[],
): Promise<void> {
  const rows = blocked.map((account) => ({
    account_id: account.accountId,
    content_hash: account.contentHash,
    rest_from: account.restFrom.toISOString(),
    rest_until: account.restUntil.toISOString(),
  }));
  await tx`
    with resting as (
      select t.target_id, t.generation, b.rest_until
      from jsonb_to_recordset(${tx.json(rows)})
        as b(account_id uuid, content_hash text, rest_from timestamptz, rest_until timestamptz)
      cross join lateral (
        select target_id, generation, wake_at, content_hash, publish_before
        from publish_tasks
        where account_id = b.account_id
        and status = 'queued'
        and wake_at between b.rest_from and now()
        order by wake_at
        limit ${MAX_COMPARED}
      ) as e
      join publish_tasks t on t.target_id = e.target_id and t.generation = e.generation
        and t.status = 'queued' and t.wake_at = e.wake_at
      where e.content_hash = b.content_hash
      and e.publish_before > now()
      for update of t skip locked
    )
    update publish_tasks t
    set wake_at = k.rest_until
    from resting k
    where t.target_id = k.target_id
    and t.generation = k.generation`;
}

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
