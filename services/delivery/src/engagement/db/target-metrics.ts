import type { PostMetrics } from "@postrider/platforms/metrics/connector";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";

const FIRST_REFRESH_MS = 3_600_000;

export interface InsertOptions {
  readonly targetIds: readonly string[];
  readonly platforms: readonly string[];
  /** Age of a post after which no refresh is scheduled any more. */
  readonly endMs: number;
}

function publishedTargets(sql: ISql, { targetIds, platforms, endMs }: InsertOptions) {
  return sql`
    select target_id, workspace_id, post_id, account_id, platform, external_id, published_at,
      case
        when external_id is null or published_at <= now() - ${endMs}::float8 * interval '1 millisecond'
          then 'infinity'::timestamptz
        else greatest(published_at + ${FIRST_REFRESH_MS}::float8 * interval '1 millisecond', now())
      end as due_at
    from (
      select t.target_id, t.workspace_id, t.post_id, t.account_id, t.platform,
        nullif(t.external_id, '') as external_id, coalesce(t.published_at, t.updated_at) as published_at
      from publish_tasks t
      where t.target_id = any(${[...targetIds]}::uuid[])
      and t.status = 'published'
      and t.platform = any(${[...platforms]})
      and not exists (
        select 1
        from deletion_tasks d
        where d.target_id = t.target_id
        and d.status = 'deleted'
      )
    ) as task`;
}

/** Accounts are written before targets, as everywhere, which prevents deadlocks. */
export async function insertPublishedTargets(
  tx: TransactionSql,
  options: InsertOptions,
): Promise<void> {
  // The due time for the metrics of an existing account only becomes earlier. The statement waits
  // for a transaction that is recording results of the account. Targets that have a schedule
  // already are left out.
  await tx`
    insert into metrics_accounts (account_id, workspace_id, platform, due_at)
    select distinct on (account_id) account_id, workspace_id, platform, due_at
    from (${publishedTargets(tx, options)}) as target
    where not exists (
      select 1
      from target_metrics t
      where t.target_id = target.target_id
      and t.external_id is not null
    )
    order by account_id, due_at
    on conflict (account_id) do update
    set due_at = excluded.due_at
    where metrics_accounts.due_at > excluded.due_at`;
  // A repeated event changes nothing, except that a row which lacks the id that the platform gave
  // the post gets this id, and the time of its first refresh.
  await tx`
    insert into target_metrics (
      target_id, workspace_id, post_id, account_id, platform, external_id, published_at, due_at
    )
    select target_id, workspace_id, post_id, account_id, platform, external_id, published_at, due_at
    from (${publishedTargets(tx, options)}) as target
    order by target_id
    on conflict (target_id) do update
    set external_id = excluded.external_id,
      due_at = excluded.due_at
    where target_metrics.external_id is null
    and excluded.external_id is not null`;
}

/** In the order of their ids, as every transaction that locks several targets does. */
export async function lockMetricsOf(
  tx: TransactionSql,
  targetIds: readonly string[],
): Promise<void> {
  await tx`
    select target_id
    from target_metrics
    where target_id = any(${[...targetIds]}::uuid[])
    order by target_id
    for no key update`;
}

export async function deleteTargetMetrics(
  tx: TransactionSql,
  targetIds: readonly string[],
): Promise<void> {
  await lockMetricsOf(tx, targetIds);
  await tx`
    delete from target_metrics
    where target_id = any(${[...targetIds]}::uuid[])`;
  await tx`
    delete from target_metric_history
    where target_id = any(${[...targetIds]}::uuid[])`;
}

export interface TargetsOfPost {
  readonly workspaceId: string;
  readonly postId: string;
  readonly targetIds: readonly string[];
  readonly platforms: readonly string[];
}

export interface StoredMetrics {
  readonly targetId: string;
  readonly metrics: PostMetrics;
  /** When the platform was asked; null until it has answered. */
  readonly refreshedAt: Date | null;
}

export async function listTargetMetrics(
  sql: ISql,
  { workspaceId, postId, targetIds, platforms }: TargetsOfPost,
): Promise<readonly StoredMetrics[]> {
  const rows = await sql<({ targetId: string; refreshedAt: Date | null } & PostMetrics)[]>`
    select target_id, refreshed_at, views, impressions, reach, likes, comments, shares, saves
    from target_metrics
    where target_id = any(${[...targetIds]}::uuid[])
    and workspace_id = ${workspaceId}
    and post_id = ${postId}
    and platform = any(${[...platforms]})`;
  return rows.map(({ targetId, refreshedAt, ...metrics }) => ({ targetId, refreshedAt, metrics }));
}

/** A target whose metrics a call requests. */
export interface AskedTarget {
  readonly targetId: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly externalId: string;
  readonly askedAt: Date;
  /** Since the publication. */
  readonly ageMs: number;
  readonly failureCount: number;
  readonly missingCount: number;
}

/** For a query in which `target_metrics` has the alias `t`. */
export function askedColumns(sql: ISql) {
  return sql`
    t.target_id, t.workspace_id, t.account_id, t.platform, t.external_id, now() as asked_at,
    (extract(epoch from now() - t.published_at) * 1000)::float8 as age_ms, t.failure_count, t.missing_count`;
}

/**
 * Claims those of the targets whose metrics may be refreshed now at the request of a user, and
 * returns them. Left out are targets that another request is refreshing or refreshed less than
 * `deferMs` ago, targets of rate limited accounts, and targets whose id the platform has not
 * returned.
 */
export async function claimByHand(
  sql: ISql,
  targets: TargetsOfPost,
  times: { readonly deferMs: number; readonly leaseMs: number },
): Promise<readonly AskedTarget[]> {
  // Of two simultaneous requests to refresh the metrics of a target, the second waits for the row,
  // checks the conditions again and leaves the target out. The rows are locked in the order of
  // their ids, which prevents a deadlock with a transaction that records answers.
  return await sql<AskedTarget[]>`
    with claimed as materialized (${askableTargets(sql, targets, times.deferMs)})
    update target_metrics as t
    set asking_until = now() + ${times.leaseMs}::float8 * interval '1 millisecond'
    from claimed
    where t.target_id = claimed.target_id
    returning ${askedColumns(sql)}`;
}

function askableTargets(
  sql: ISql,
  { workspaceId, postId, targetIds, platforms }: TargetsOfPost,
  deferMs: number,
) {
  return sql`
    select t.target_id
    from target_metrics t
    join metrics_accounts a on a.account_id = t.account_id
    left join app_budgets app on app.platform = a.platform and app.name = 'metrics'
    where t.target_id = any(${[...targetIds]}::uuid[])
    and t.workspace_id = ${workspaceId}
    and t.post_id = ${postId}
    and t.platform = any(${[...platforms]})
    and t.external_id is not null
    and t.asking_until <= now()
    and (
      t.asked_by_hand_at is null
      or t.asked_by_hand_at <= now() - ${deferMs}::float8 * interval '1 millisecond'
    )
    and a.limited_until <= now()
    and coalesce(app.limited_until, '-infinity') <= now()
    order by t.target_id
    for no key update of t`;
}
