import type { ISql } from "@postrider/shared/postgres";
import { rfc3339 } from "@postrider/shared/postgres/rfc3339";

const COUNTERS = ["views", "impressions", "reach", "likes", "comments", "shares", "saves"] as const;
type Counters = Readonly<Record<(typeof COUNTERS)[number], number | null>>;

/** Readings per target; the history has at most about 250 (`metrics-history.ts`). */
const MAX_POINTS = 500;
const MAX_PUBLICATIONS = 20_000;
const MAX_POSTS = 20;
/** After the publication: the points of the small line of a post. */
const LINE_HOURS = [6, 12, 18, 24, 30, 36, 42, 48];

/**
 * `MetricsHistory` of the dashboard: the earlier readings and the newest one, oldest first.
 * Postgres writes the JSON, because the readings of a post with a hundred targets would hold the
 * event loop of a process that publishes.
 */
export async function describeReadings(
  sql: ISql,
  workspaceId: string,
  targetIds: readonly string[],
): Promise<string> {
  const [row] = await sql<[{ json: string }]>`
    select json_build_object('targets', coalesce(
      json_agg(
        json_build_object(
          'targetId', t.target_id, 'accountId', t.account_id, 'platform', t.platform, 'points', coalesce(p.points, '[]'),
          'nextReadAt', case when t.due_at < 'infinity' then ${rfc3339(sql, sql`t.due_at`)} end
        ) order by t.published_at, t.target_id
      ), '[]'
    ))::text as json
    from target_metrics t
    cross join lateral (
      select json_agg(
        json_build_object(
          'at', ${rfc3339(sql, sql`refreshed_at`)}, 'views', views, 'impressions', impressions, 'reach', reach,
          'likes', likes, 'comments', comments, 'shares', shares, 'saves', saves
        ) order by refreshed_at
      ) as points
      from (
        select refreshed_at, ${sql(COUNTERS)}
        from target_metric_history h
        where h.target_id = t.target_id
        union
        select t.refreshed_at, ${sql(COUNTERS.map((name) => `t.${name}`))}
        where t.refreshed_at is not null
        order by refreshed_at desc
        limit ${MAX_POINTS}
      ) as newest
    ) as p
    where t.target_id = any (${[...targetIds]}::uuid[])
    and t.workspace_id = ${workspaceId}`;
  return row.json;
}

interface Publications {
  readonly workspaceId: string;
  /** Inclusive. */
  readonly from: Date;
  /** Exclusive. */
  readonly before: Date;
  readonly accountId: string | undefined;
  readonly platform: string | undefined;
}

interface MetricsSums {
  readonly isMore: boolean;
  readonly days: readonly (Counters & { readonly day: string; readonly publications: number })[];
  readonly posts: readonly (Counters & {
    readonly postId: string;
    readonly seen: number;
    readonly publications: number;
    readonly publishedAt: string;
    readonly line: number[];
  })[];
}

function sums(sql: ISql) {
  return sql`
    count(*)::int as publications, sum(views)::float8 as views, sum(impressions)::float8 as impressions,
    sum(reach)::float8 as reach, sum(likes)::float8 as likes, sum(comments)::float8 as comments,
    sum(shares)::float8 as shares, sum(saves)::float8 as saves`;
}

/** How often each post was seen at some hours: the newest reading until then of its targets. */
function lines(sql: ISql) {
  return sql`
    points as (
      select post_id, hours, sum(
        case when refreshed_at <= published_at + hours * interval '1 hour'
        then greatest(views, impressions, reach, 0)
        else (
          select greatest(h.views, h.impressions, h.reach, 0)
          from target_metric_history h
          where h.target_id = found.target_id
          and h.refreshed_at <= found.published_at + hours * interval '1 hour'
          order by h.refreshed_at desc
          limit 1
        ) end
      )::float8 as seen
      from found
      cross join unnest(${LINE_HOURS}::int[]) as hours
      where post_id in (select "postId" from posts)
      and published_at + hours * interval '1 hour' <= now()
      group by post_id, hours
    ),
    -- Otherwise Postgres, which expects one row, reads all points again for each of the posts.
    lines as materialized (
      select post_id, json_agg(seen order by hours) filter (where seen is not null) as line
      from points
      group by post_id
    )`;
}

/**
 * SQL for the sums. The filters apply to the newest 20,000 publications of the workspace in the
 * range, so that an account with few publications does not read all the others.
 */
export function readingSums(sql: ISql, of: Publications) {
  const { workspaceId, from, before, accountId, platform } = of;
  return sql`
    with newest as materialized (
      select target_id, post_id, account_id, platform, published_at, refreshed_at, ${sql(COUNTERS)}
      from target_metrics
      where workspace_id = ${workspaceId}
      and published_at >= ${from}
      and published_at < ${before}
      order by published_at desc
      limit ${MAX_PUBLICATIONS + 1}
    ),
    found as materialized (
      select target_id, post_id, published_at, refreshed_at, ${sql(COUNTERS)}
      from newest
      where true
      ${accountId === undefined ? sql`` : sql`and account_id = ${accountId}`}
      ${platform === undefined ? sql`` : sql`and platform = ${platform}`}
    ),
    days as (
      select to_char(published_at at time zone 'UTC', 'YYYY-MM-DD') as day, ${sums(sql)}
      from found
      group by 1
    ),
    posts as (
      select post_id as "postId", sum(greatest(views, impressions, reach, 0))::float8 as seen,
        min(published_at) as "publishedAt", ${sums(sql)}
      from found
      group by post_id
      order by seen desc, "postId"
      limit ${MAX_POSTS}
    ),
    ${lines(sql)},
    shown as (
      select posts.*, coalesce(lines.line, '[]') as line
      from posts
      left join lines on lines.post_id = posts."postId"
    )
    select (select count(*) > ${MAX_PUBLICATIONS} from newest) as is_more,
      (select coalesce(json_agg(days order by day), '[]') from days) as days,
      (select coalesce(json_agg(shown order by seen desc, "postId"), '[]') from shown) as posts`;
}

export async function sumReadings(sql: ISql, of: Publications): Promise<MetricsSums> {
  const [row] = await sql<MetricsSums[]>`${readingSums(sql, of)}`;
  if (row === undefined) throw new Error("the sum of metrics returned no row");
  return row;
}

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
