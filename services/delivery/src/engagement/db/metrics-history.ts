import type { ISql } from "@postrider/shared/postgres";

/**
 * Returns SQL for the rows of the metrics history of the targets in `due`, and whether each row is
 * superfluous. All rows of the last 48 hours are kept; from older ones, the last of each 6 hours;
 * after 7 days, the last of each day; after 90 days, the last of each 30 days; after 400 days,
 * none.
 */
function rankedHistory(sql: ISql) {
  return sql`
    select target_id, refreshed_at,
      refreshed_at < now() - interval '400 days'
        or row_number() over (partition by target_id, bucket_at order by refreshed_at desc) > 1 as is_superfluous
    from due
    join (
      select target_id as history_of, refreshed_at,
        case
          when refreshed_at > now() - interval '48 hours' then refreshed_at
          when refreshed_at > now() - interval '7 days'
            then date_bin('6 hours', refreshed_at, timestamptz '2026-01-01 00:00:00+00')
          when refreshed_at > now() - interval '90 days'
            then date_bin('1 day', refreshed_at, timestamptz '2026-01-01 00:00:00+00')
          else date_bin('30 days', refreshed_at, timestamptz '2026-01-01 00:00:00+00')
        end as bucket_at
      from target_metric_history
    ) as history on history_of = target_id`;
}

/** Returns the number of targets, at most `limit`. */
export async function thinHistories(sql: ISql, limit: number): Promise<number> {
  // A target whose metrics another process is refreshing, or whose metrics history another process
  // is thinning out, is left out; a later page contains it.
  const [row] = await sql<{ count: number }[]>`
    with due as materialized (
      select target_id
      from target_metrics
      where thin_at <= now()
      and thin_at < 'infinity'
      order by thin_at
      limit ${limit}
      for no key update skip locked
    ),
    ranked as materialized (${rankedHistory(sql)}),
    deleted as (
      delete from target_metric_history h
      using ranked
      where ranked.is_superfluous
      and h.target_id = ranked.target_id
      and h.refreshed_at = ranked.refreshed_at
    ),
    thinned as (
      update target_metrics t
      set thin_at = case
          when kept.newest_at is null then 'infinity'
          when kept.newest_at > now() - interval '8 days' then now() + interval '1 day'
          else now() + interval '30 days'
        end
      from (
        select due.target_id, max(ranked.refreshed_at) filter (where not ranked.is_superfluous) as newest_at
        from due
        left join ranked on ranked.target_id = due.target_id
        group by due.target_id
      ) as kept
      where t.target_id = kept.target_id
    )
    select count(*)::int as count
    from due`;
  return row?.count ?? 0;
}
