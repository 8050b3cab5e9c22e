import type { PostMetrics } from "@postrider/platforms/metrics/connector";
import type { TransactionSql } from "@postrider/shared/postgres";
import type { Bucket } from "#src/engagement/domain/call-budget.ts";
import type { NextRefresh } from "#src/engagement/domain/metrics-schedule.ts";

/**
 * Locks accounts in the order of their ids, as every transaction that locks several accounts does.
 */
export async function lockMetricsAccounts(
  tx: TransactionSql,
  accountIds: readonly string[],
): Promise<void> {
  await tx`
    select account_id
    from metrics_accounts
    where account_id = any(${[...accountIds]}::uuid[])
    order by account_id
    for no key update`;
}

export interface NewReading {
  readonly targetId: string;
  readonly askedAt: Date;
  readonly metrics: PostMetrics;
}

/** Stored as the newest metrics of the target. */
export interface StoredReading {
  readonly workspaceId: string;
  readonly postId: string;
  readonly targetId: string;
  readonly refreshedAt: Date;
  readonly metrics: PostMetrics;
}

/** Age from which the history is thinned out; younger rows are all kept. */
const HISTORY_WHOLE_MS = 48 * 3_600_000;

/** Stores those newer than the stored ones, each with a row of history, and returns them. */
export async function storeReadings(
  tx: TransactionSql,
  readings: readonly NewReading[],
): Promise<readonly StoredReading[]> {
  if (readings.length === 0) return [];
  const rows = readings.map(({ targetId, askedAt, metrics }) => ({
    target_id: targetId,
    asked_at: askedAt.toISOString(),
    ...metrics,
  }));
  const stored = await tx<(Omit<StoredReading, "metrics"> & PostMetrics)[]>`
    with stored as (
      update target_metrics as t
      set views = r.views,
        impressions = r.impressions,
        reach = r.reach,
        likes = r.likes,
        comments = r.comments,
        shares = r.shares,
        saves = r.saves,
        refreshed_at = r.asked_at,
        thin_at = least(t.thin_at, now() + ${HISTORY_WHOLE_MS}::float8 * interval '1 millisecond')
      from jsonb_to_recordset(${tx.json(rows)}) as r (
        target_id uuid, asked_at timestamptz(3), views bigint, impressions bigint, reach bigint, likes bigint,
        comments bigint, shares bigint, saves bigint
      )
      where t.target_id = r.target_id
      and (t.refreshed_at is null or t.refreshed_at < r.asked_at)
      returning t.workspace_id, t.post_id, t.target_id, t.refreshed_at, t.views, t.impressions, t.reach, t.likes,
        t.comments, t.shares, t.saves
    ),
    history as (
      insert into target_metric_history (
        target_id, refreshed_at, workspace_id, views, impressions, reach, likes, comments, shares, saves
      )
      select target_id, refreshed_at, workspace_id, views, impressions, reach, likes, comments, shares, saves
      from stored
    )
    select *
    from stored
    order by target_id`;
  return stored.map(({ workspaceId, postId, targetId, refreshedAt, ...metrics }) => ({
    workspaceId,
    postId,
    targetId,
    refreshedAt,
    metrics,
  }));
}

export interface TargetEnd {
  readonly targetId: string;
  readonly askedAt: Date;
  /** Undefined leaves the time unchanged. */
  readonly next: NextRefresh | undefined;
  readonly isByHand: boolean;
  /** If so, a user can request the next refresh only after a minimum time. */
  readonly isAnswered: boolean;
}

export async function endRefreshes(tx: TransactionSql, ends: readonly TargetEnd[]): Promise<void> {
  const rows = ends.map((end) => ({
    target_id: end.targetId,
    asked_at: end.askedAt.toISOString(),
    is_planned: end.next !== undefined,
    due_in_ms: end.next?.dueInMs ?? null,
    failure_count: end.next?.failureCount ?? 0,
    missing_count: end.next?.missingCount ?? 0,
    is_by_hand: end.isByHand,
    is_answered: end.isAnswered,
  }));
  // Targets for which the platform returned no id are never passed in, so the metrics of every
  // scheduled target can be refreshed.
  await tx`
    update target_metrics as t
    set due_at = case
        when not r.is_planned then t.due_at
        when r.due_in_ms is null then 'infinity'
        else now() + r.due_in_ms * interval '1 millisecond'
      end,
      failure_count = case when r.is_planned then r.failure_count else t.failure_count end,
      missing_count = case when r.is_planned then r.missing_count else t.missing_count end,
      asking_until = case when r.is_by_hand then '-infinity' else t.asking_until end,
      asked_by_hand_at = case when r.is_by_hand and r.is_answered then r.asked_at else t.asked_by_hand_at end
    from jsonb_to_recordset(${tx.json(rows)}) as r (
      target_id uuid, asked_at timestamptz, is_planned boolean, due_in_ms float8, failure_count int,
      missing_count int, is_by_hand boolean, is_answered boolean
    )
    where t.target_id = r.target_id`;
}

export interface AccountEnd {
  readonly accountId: string;
  readonly platform: string;
  readonly bucket: Bucket;
  /** Whether this process has claimed the account for the call; a call by hand has no claim. */
  readonly isScheduled: boolean;
  readonly askedAt: Date;
  /** For scheduled calls, unless the account was connected again since the call began. */
  readonly pauseMs: number;
  /** Of the account, or of the whole app. */
  readonly limitedForMs: number;
  /** Units beyond those that a claim has charged: all of a call by hand. */
  readonly furtherUnits: number;
}

/** The accounts must be locked, so that no target is added meanwhile. */
export async function endCalls(tx: TransactionSql, ends: readonly AccountEnd[]): Promise<void> {
  const rows = ends.map(({ bucket, ...end }) => ({
    account_id: end.accountId,
    is_scheduled: end.isScheduled,
    asked_at: end.askedAt.toISOString(),
    pause_ms: end.pauseMs,
    limited_for_ms: bucket.scope === "account" ? end.limitedForMs : 0,
    further_ms: end.furtherUnits * bucket.intervalMs,
    ahead_ms: bucket.scope === "account" ? (bucket.burst - 1) * bucket.intervalMs : null,
  }));
  await tx`
    update metrics_accounts as a
    set due_at = coalesce((
        select min(t.due_at)
        from target_metrics t
        where t.account_id = a.account_id
        and t.due_at < 'infinity'
      ), 'infinity'),
      not_before = case
        when not r.is_scheduled then greatest(
          a.not_before,
          greatest(a.budget_until, now()) + (nullif(r.further_ms, 0) - r.ahead_ms) * interval '1 millisecond'
        )
        else greatest(
          now() + case when a.connected_at >= r.asked_at then 0 else r.pause_ms end * interval '1 millisecond',
          a.budget_until + (r.further_ms - r.ahead_ms) * interval '1 millisecond'
        )
      end,
      budget_until = case
        when r.is_scheduled or r.further_ms = 0 then a.budget_until
        else greatest(a.budget_until, now())
      end + r.further_ms * interval '1 millisecond',
      limited_until = greatest(a.limited_until, now() + nullif(r.limited_for_ms, 0) * interval '1 millisecond')
    from jsonb_to_recordset(${tx.json(rows)}) as r (
      account_id uuid, is_scheduled boolean, asked_at timestamptz, pause_ms float8, limited_for_ms float8, further_ms float8,
      ahead_ms float8
    )
    where a.account_id = r.account_id`;
}

/** For platforms that limit or budget our whole app. */
export async function delayApps(tx: TransactionSql, ends: readonly AccountEnd[]): Promise<void> {
  const rows = [...Map.groupBy(ends, ({ platform }) => platform)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([platform, own]) => {
      const app = own.filter(({ bucket }) => bucket.scope === "app");
      const limitedForMs = Math.max(0, ...app.map((end) => end.limitedForMs));
      const furtherMs = app.reduce((sum, end) => sum + end.furtherUnits * end.bucket.intervalMs, 0);
      if (limitedForMs === 0 && furtherMs === 0) return [];
      return [{ platform, limited_for_ms: limitedForMs, further_ms: furtherMs }];
    });
  if (rows.length === 0) return;
  await tx`
    update app_budgets as app
    set limited_until = greatest(
        app.limited_until,
        now() + nullif(r.limited_for_ms, 0) * interval '1 millisecond'
      ),
      budget_until = greatest(app.budget_until, now()) + r.further_ms * interval '1 millisecond'
    from jsonb_to_recordset(${tx.json(rows)}) as r (platform text, limited_for_ms float8, further_ms float8)
    where app.platform = r.platform
    and app.name = 'metrics'`;
}
