import type { ISql } from "@postrider/shared/postgres";

const MAX_COUNT = 100_000;

export interface MetricsCounts {
  readonly platform: string;
  /** Up to 100,000 over all platforms. */
  readonly due: number;
  readonly oldestDueAt: Date | null;
  readonly limitedAccounts: number;
  readonly isAppLimited: boolean;
  /** Time without a call until the budget of the app, or of the busiest account, is full. */
  readonly usedMs: number;
}

export async function countMetrics(
  sql: ISql,
  platforms: readonly string[],
): Promise<readonly MetricsCounts[]> {
  return await sql<MetricsCounts[]>`
    with due as (
      select platform, count(*)::int as due
      from (
        select platform
        from target_metrics
        where due_at <= now()
        and due_at < 'infinity'
        limit ${MAX_COUNT}
      ) as target
      group by platform
    ),
    account as (
      select platform,
        min(due_at) filter (where due_at <= now()) as oldest_due_at,
        count(*) filter (where limited_until > now())::int as limited_accounts,
        max(budget_until) as budget_until
      from metrics_accounts
      group by platform
    )
    select named.platform, coalesce(due.due, 0) as due, account.oldest_due_at,
      coalesce(account.limited_accounts, 0) as limited_accounts,
      coalesce(app.limited_until > now(), false) as is_app_limited,
      greatest(0, coalesce(
        extract(epoch from nullif(coalesce(app.budget_until, account.budget_until), '-infinity') - now()) * 1000, 0
      ))::float8 as used_ms
    from unnest(${[...platforms]}::text[]) as named (platform)
    left join due on due.platform = named.platform
    left join account on account.platform = named.platform
    left join metrics_apps app on app.platform = named.platform`;
}
