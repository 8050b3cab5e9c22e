import type { ISql } from "@postrider/shared/postgres";
import { isInPlace } from "#src/db/data-place.ts";
import type { HeldKey } from "#src/publishing/domain/task.ts";
import { isDoubtful } from "./deployment.ts";
import { isPlatformHeld } from "./platform-brakes.ts";

/** A request of a worker to begin the publishing call of a task. */
export interface MarkRequest extends HeldKey {
  readonly contentHash: string;
  /** The platform's id of the account. Several workspaces can have connected the same account of the platform. */
  readonly externalAccountId: string;
  /** Maximum duration of the publishing call, in milliseconds. */
  readonly callMs: number;
  /**
   * Whether the owner of the account runs the server that gets the call. Such a call does not show whether the platform
   * answers. So it is sent even while the publishing calls to its platform are held, and it is never a probe.
   */
  readonly isForeignHost?: boolean;
}

/**
 * A publishing call that may begin: its task has the status `calling`, and no other process works on the task before
 * `call_until`.
 */
export interface Mark extends HeldKey {
  readonly callNumber: number;
}

function toRow(request: MarkRequest) {
  return {
    target_id: request.targetId,
    generation: request.generation,
    fence: request.fence,
    content_hash: request.contentHash,
    external_account_id: request.externalAccountId,
    call_ms: request.callMs,
    is_foreign: request.isForeignHost ?? false,
  };
}

/**
 * SQL subquery for `exists`: a task of another generation (an earlier or later publish request) of the target of task
 * `t` has published the post or may have published it.
 */
function visibleSibling(sql: ISql) {
  return sql`
    select 1
    from publish_tasks s
    where s.target_id = t.target_id
    and s.generation <> t.generation
    and s.status in ('published', 'calling', 'unknown', 'reconciling')`;
}

/**
 * Common table expressions that lock the tasks whose publishing calls may begin, unless publishing to their platform is
 * held (stopped because calls got no answer). `ours` contains these tasks.
 */
function lockInOrder(sql: ISql, requests: readonly MarkRequest[]) {
  return sql`
    asked as (
      select t.target_id, t.generation, t.account_id, t.platform, k.fence, k.content_hash, k.external_account_id,
        k.call_ms, k.is_foreign
      from jsonb_to_recordset(${sql.json(requests.map(toRow))})
        as k(
          target_id uuid, generation int, fence bigint, content_hash text, external_account_id text, call_ms int,
          is_foreign boolean
        )
      join publish_tasks t
        on t.target_id = k.target_id and t.generation = k.generation and t.fence = k.fence
      where t.status = 'working'
    ),
    -- The unique indexes make statements of two processes with the same accounts wait for each other. Each statement
    -- therefore locks its accounts first, those of the workspaces and those of the platforms, in the same order, so that two
    -- statements cannot deadlock.
    accounts as materialized (
      select pg_advisory_xact_lock(lock_key)
      from (
        select distinct hashtextextended('publishing call ' || name, 0) as lock_key
        from asked
        cross join lateral (values (account_id::text), (platform || ' ' || external_account_id)) as n(name)
        order by lock_key
      ) as in_order
    ),
    -- Tasks are locked in the order of their keys, like by every other statement that locks several tasks.
    ours as materialized (
      select t.target_id, t.generation, t.account_id, t.platform, a.content_hash, a.external_account_id, a.call_ms,
        a.is_foreign
      from asked a
      -- The count makes the statement wait for all locks before it locks the first task.
      cross join (select count(*) from accounts) as locked
      join publish_tasks t on t.target_id = a.target_id and t.generation = a.generation
      cross join deployment d
      where t.fence = a.fence
      and t.status = 'working'
      and t.publish_before > now()
      -- The deployment is checked here too, because the database can be replaced between the claim and the mark.
      and ${isInPlace(sql)}
      and not ${isDoubtful(sql)}
      and not exists (${visibleSibling(sql)})
      order by t.target_id, t.generation
      for update of t
    )`;
}

/**
 * Common table expressions that select from `ours` the tasks whose publishing calls may begin. `allowed` contains all
 * tasks of platforms whose publishing calls are not held, and of accounts on servers of their owners. Of each platform whose
 * calls are held and that is due for a probe (a call that tests whether the platform answers again), it contains one task.
 */
function leaveOutHeld(sql: ISql) {
  return sql`
    candidates as (
      select distinct on (o.platform) o.platform, o.target_id, o.generation, o.call_ms
      from ours o
      -- A task whose call would violate a unique index is not chosen as probe: this statement would hold the platform's row while it waits
      -- for a transaction that records an outcome, and that transaction may wait for the row.
      where not o.is_foreign
      and not exists (
        select 1
        from publish_tasks c
        where c.account_id = o.account_id
        and (c.status = 'calling' or c.content_hash = o.content_hash and c.status in ('unknown', 'reconciling'))
      )
      and not exists (
        select 1
        from publish_tasks c
        where c.platform = o.platform
        and c.external_account_id = o.external_account_id
        and c.content_hash = o.content_hash
        and c.status in ('calling', 'unknown', 'reconciling')
      )
      order by o.platform, o.target_id, o.generation
    ),
    -- Of several statements that find a held platform ready for its next probe, the row lock lets one send the probe. The
    -- rows are locked in the order of the platforms, so that two transactions cannot deadlock.
    ready as materialized (
      select b.platform
      from platform_brakes b
      where b.platform in (select platform from candidates)
      and b.probe_at <= now()
      order by b.platform
      for update
    ),
    probes as (
      update platform_brakes b
      set probe_at = now() + interval '1 second' + interval '1 millisecond' * c.call_ms
      from candidates c
      join ready r on r.platform = c.platform
      where b.platform = c.platform
      returning c.target_id, c.generation
    ),
    allowed as (
      select t.target_id, t.generation, t.content_hash, t.external_account_id, t.call_ms
      from ours t
      where t.is_foreign
      or not ${isPlatformHeld(sql)}
      or (t.target_id, t.generation) in (select target_id, generation from probes)
    )`;
}

/**
 * Records in one SQL statement, before the calls are sent, that publishing calls begin. A call may not begin in five
 * cases: its worker has lost the task to another worker, its `publish_before` has passed, another generation of its
 * target is or may be visible, a restore from a backup made its task uncertain, or the publishing calls to its platform
 * are held because earlier ones got no answer.
 *
 * @throws A unique violation if one of the accounts has another open publishing call, or if the account of the platform has an
 * open call with the same content or one with an unknown outcome, of whichever workspace; then no call may begin.
 */
export async function markCalls(
  sql: ISql,
  requests: readonly MarkRequest[],
): Promise<readonly Mark[]> {
  return await sql<Mark[]>`
    with ${lockInOrder(sql, requests)},
    ${leaveOutHeld(sql)},
    marked as (
      update publish_tasks t
      set status = 'calling',
        -- Whole milliseconds, so that a process that reads the instant and writes it back does not change it.
        called_at = date_trunc('milliseconds', now()),
        call_until = date_trunc('milliseconds', now()) + (k.call_ms + 1) * interval '1 millisecond',
        wake_at = date_trunc('milliseconds', now()) + (k.call_ms + 1) * interval '1 millisecond',
        call_number = t.call_number + 1,
        content_hash = k.content_hash,
        external_account_id = k.external_account_id,
        version = t.version + 1,
        updated_at = now()
      from allowed k
      where t.target_id = k.target_id
      and t.generation = k.generation
      returning t.target_id, t.generation, t.attempt_number, t.call_number, t.fence, t.called_at, t.call_until
    ),
    intended as (
      update publish_attempts a
      set call_number = m.call_number,
        fence = m.fence,
        called_at = m.called_at,
        call_until = m.call_until,
        is_not_sent = false
      from marked m
      where a.target_id = m.target_id
      and a.number = m.attempt_number
      returning a.target_id
    )
    select m.target_id, m.generation, m.fence, m.call_number
    from marked m
    join intended i on i.target_id = m.target_id`;
}
