import type { ISql } from "@postrider/shared/postgres";
import type { DeletionTask, HeldDeletion } from "#src/publishing/domain/deletion.ts";
import { deletionColumns, toHeldRow } from "./deletions.ts";
import { isInPlace } from "./deployment.ts";

export interface DeletionClaimOptions {
  /** Which process takes the lease; for operators only, the fence is what counts. */
  readonly owner: string;
  readonly leaseMs: number;
  /** At most so many. */
  readonly limit: number;
  /** How many of one platform may be in work, over all processes. */
  readonly maxPerPlatform: number;
}

/** Enough to find work for every free worker, and a bound for one statement. */
const WINDOW = 1000;

/** Platforms that have in work what they may have. */
function fullPlatforms(sql: ISql, { maxPerPlatform }: DeletionClaimOptions) {
  return sql`
    select platform
    from live
    group by platform
    having count(*) >= ${maxPerPlatform}`;
}

/**
 * The first ready deletion of each account that nobody works for and no limit holds back, some more than asked for. A
 * platform that has its share in work already is left out here and not only later: the backlog of one that hangs would
 * fill the window, and no other's deletions would be seen.
 */
function firstOfEachAccount(sql: ISql, { limit, maxPerPlatform }: DeletionClaimOptions) {
  return sql`
    select r.target_id, r.deletion, r.wake_at
    from (
      select f.target_id, f.deletion, f.platform, f.wake_at,
        row_number() over (partition by f.platform order by f.wake_at) as of_platform
      from (
        select distinct on (account_id) target_id, deletion, platform, wake_at
        from (
          select d.target_id, d.deletion, d.account_id, d.platform, d.wake_at
          from deletion_tasks d
          where d.status in ('queued', 'working')
          and d.wake_at <= now()
          and d.account_id not in (select account_id from live)
          and d.platform not in (select platform from full_platforms)
          and d.account_id not in (select account_id from account_gates where not_before > now())
          order by d.wake_at
          limit ${WINDOW}
        ) as ready
        order by account_id, wake_at
      ) as f
    ) as r
    where r.of_platform + (select count(*) from live l where l.platform = r.platform) <= ${maxPerPlatform}
    order by r.wake_at
    limit ${limit * 4}`;
}

/** A row while the data lies where it belongs: a copy of it takes nothing away. */
function dataInPlace(sql: ISql) {
  return sql`
    select 1
    from deployment d
    where ${isInPlace(sql)}`;
}

/**
 * Takes deletions whose time has come: at most one per account, past accounts that a limit holds back. A pause holds
 * publishing back and not what takes publications away.
 */
export async function claimDeletions(
  sql: ISql,
  options: DeletionClaimOptions,
): Promise<readonly DeletionTask[]> {
  const { owner, leaseMs, limit } = options;
  return await sql<DeletionTask[]>`
    with live as materialized (
      select account_id, platform
      from deletion_tasks
      where status = 'working'
      and wake_at > now()
    ),
    full_platforms as materialized (${fullPlatforms(sql, options)}),
    chosen as (${firstOfEachAccount(sql, options)}),
    -- Whoever locks one first has it. The conditions are repeated here because they are checked again under the lock.
    taken as (
      select d.target_id, d.deletion
      from chosen c
      join deletion_tasks d on d.target_id = c.target_id and d.deletion = c.deletion
      where d.status in ('queued', 'working')
      and d.wake_at <= now()
      and exists (${dataInPlace(sql)})
      order by c.wake_at
      limit ${limit}
      for update of d skip locked
    )
    update deletion_tasks d
    set status = 'working',
      wake_at = now() + ${leaseMs} * interval '1 millisecond',
      crash_count = d.crash_count + case when d.status = 'working' then 1 else 0 end,
      fence = d.fence + 1,
      lease_owner = ${owner},
      updated_at = now()
    from taken k
    where d.target_id = k.target_id
    and d.deletion = k.deletion
    returning ${deletionColumns(sql)}`;
}

/** Gives deletions back; it costs nothing, and somebody takes them after `delayMs`. */
export async function releaseDeletions(
  sql: ISql,
  held: readonly HeldDeletion[],
  delayMs: number,
): Promise<void> {
  await sql`
    update deletion_tasks d
    set status = 'queued',
      wake_at = now() + ${delayMs} * interval '1 millisecond',
      lease_owner = null,
      updated_at = now()
    from jsonb_to_recordset(${sql.json(held.map(toHeldRow))})
      as k(target_id uuid, deletion int, fence bigint)
    where d.target_id = k.target_id
    and d.deletion = k.deletion
    and d.fence = k.fence
    and d.status = 'working'`;
}

/** Milliseconds until a deletion wants to be touched; 0 or less when one is waiting already. */
export async function findNextDeletionMs(sql: ISql): Promise<number | undefined> {
  const [row] = await sql<{ waitMs: number | null }[]>`
    select extract(epoch from min(wake_at) - now())::float8 * 1000 as wait_ms
    from deletion_tasks
    where status in ('queued', 'working')`;
  return row?.waitMs ?? undefined;
}
