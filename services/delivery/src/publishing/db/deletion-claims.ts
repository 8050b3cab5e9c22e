import type { ISql } from "@postrider/shared/postgres";
import { placesOfWorkspace, takeLocked } from "#src/calls/table.ts";
import { isInPlace } from "#src/db/data-place.ts";
import type { DeletionTask } from "#src/publishing/domain/deletion.ts";
import {
  CLAIM_WINDOW,
  type ClaimLimits,
  findNextWake,
  fullPlatforms,
  isAboveFloor,
  type NextWake,
} from "./claim-limits.ts";
import { DELETION_TABLE, deletionColumns } from "./deletions.ts";

interface DeletionLimits extends ClaimLimits {
  /** The claim reads no entries below this search floor; null: it reads all ready tasks. */
  readonly since: Date | null;
}

/**
 * Skips accounts that are busy or limited, and full platforms and workspaces: this query reads a
 * limited number of rows, which the backlog of a silent platform or workspace would otherwise fill.
 * The workspaces with the fewest deletions in work come first. It returns more than a claim takes,
 * because other processes may have locked the first ones.
 */
function firstOfEachAccount(sql: ISql, { limit, maxPerPlatform, since }: DeletionLimits) {
  return sql`
    select r.target_id, r.deletion, r.turn, r.wake_at
    from (
      select o.*, row_number() over (partition by o.platform order by o.turn, o.wake_at) as of_platform
      from (
        select f.*, row_number() over (partition by f.platform, f.workspace_id order by f.wake_at) + (
            select count(*)
            from live l
            where l.platform = f.platform
            and l.workspace_id = f.workspace_id
          ) as turn
        from (
          select distinct on (account_id) target_id, deletion, workspace_id, platform, wake_at
          from (
            select d.target_id, d.deletion, d.workspace_id, d.account_id, d.platform, d.wake_at
            from deletion_tasks d
            where d.status in ('queued', 'working')
            and d.wake_at <= now()
            and ${isAboveFloor(sql, since)}
            and d.account_id not in (select account_id from live)
            and d.platform not in (select platform from full_platforms)
            and (d.platform, d.workspace_id) not in (select platform, workspace_id from full_workspaces)
            and d.account_id not in (select account_id from account_breakers where not_before > now())
            order by d.wake_at
            limit ${CLAIM_WINDOW}
          ) as ready
          order by account_id, wake_at
        ) as f
      ) as o
      where o.turn <= ${placesOfWorkspace(maxPerPlatform)}
    ) as r
    where r.of_platform + (select count(*) from live l where l.platform = r.platform) <= ${maxPerPlatform}
    order by r.turn, r.wake_at
    limit ${limit * 4}`;
}

/** At most one per account. An operator's pause stops publishing, but not deletions. */
export async function claimDeletions(
  sql: ISql,
  options: DeletionLimits,
): Promise<readonly DeletionTask[]> {
  const { limit } = options;
  return await sql<DeletionTask[]>`
    with live as materialized (
      select account_id, workspace_id, platform
      from deletion_tasks
      where status = 'working'
      and wake_at > now()
    ),
    full_platforms as materialized (${fullPlatforms(sql, options)}),
    full_workspaces as materialized (
      select platform, workspace_id
      from live
      group by platform, workspace_id
      having count(*) >= ${placesOfWorkspace(options.maxPerPlatform)}
    ),
    chosen as (${firstOfEachAccount(sql, options)}),
    -- The first process that locks a deletion claims it. The conditions are repeated because Postgres checks them again
    -- under the lock.
    taken as (
      select d.target_id, d.deletion
      from chosen c
      join deletion_tasks d on d.target_id = c.target_id and d.deletion = c.deletion
      where d.status in ('queued', 'working')
      and d.wake_at <= now()
      -- No deletion is claimed in a copy of the data.
      and exists (select 1 from deployment d where ${isInPlace(sql)})
      order by c.turn, c.wake_at
      limit ${limit}
      for update of d skip locked
    )
    ${takeLocked(sql, DELETION_TABLE, options)}
    returning ${deletionColumns(sql)}`;
}

export async function findNextDeletion(sql: ISql, since: Date | null): Promise<NextWake> {
  return await findNextWake(sql, sql`deletion_tasks where status in ('queued', 'working')`, since);
}

/** SQL: whether a deletion may be ready now. */
export function isDeletionDue(sql: ISql, since: Date | null) {
  return sql`
    exists (
      select from deletion_tasks
      where status in ('queued', 'working')
      and wake_at <= now()
      and ${isAboveFloor(sql, since)}
    )`;
}

/**
 * Returns whether another target, of whichever workspace, published this post before on the same
 * account of the platform, and the post is not deleted. Its deletion is then refused.
 */
export async function isOfOtherTarget(
  sql: ISql,
  { targetId, externalId, platform }: DeletionTask,
  externalAccountId: string,
): Promise<boolean> {
  const owners = await sql`
    select 1
    from publish_tasks t
    join publish_tasks o on o.external_id = t.external_id and o.platform = t.platform
    where t.target_id = ${targetId}
    and t.status = 'published'
    and t.external_id = ${externalId}
    and t.platform = ${platform}
    and o.target_id <> t.target_id
    and o.status = 'published'
    and (o.account_id = t.account_id or o.external_account_id in (t.external_account_id, ${externalAccountId}))
    -- Telegram counts messages anew when a group becomes a supergroup: the same id in another chat is another post.
    and (o.platform <> 'telegram' or o.permalink is null or t.permalink is null or o.permalink = t.permalink)
    and (o.published_at, o.target_id) < (t.published_at, t.target_id)
    and not exists (
      select 1
      from deletion_tasks d
      where d.target_id = o.target_id
      and d.status = 'deleted'
    )
    limit 1`;
  return owners.length > 0;
}
