import type { ISql } from "@postrider/shared/postgres";
import type { ActionType } from "#src/engagement/domain/comment-action.ts";
import { limitedUntil, isPaused, isUnlimited } from "./queue-schedule.ts";

const MAX_COUNT = 100_000;
/** Failed polls in a row. */
const FAILING_AFTER = 3;

interface AutomationCounts {
  /** Runs whose private reply waits, up to 100,000. */
  readonly waiting: number;
  readonly oldestWaitingAt: Date | null;
  readonly due: number;
  readonly oldestDueAt: Date | null;
  /** Accounts by platform. */
  readonly failing: Readonly<Record<string, number>>;
}

export async function countAutomations(sql: ISql): Promise<AutomationCounts> {
  const [row] = await sql<AutomationCounts[]>`
    with waiting as materialized (
      select created_at
      from automation_runs
      where status = 'prepared'
      and reason is null
      limit ${MAX_COUNT}
    ),
    due as materialized (
      select poll_at
      from automation_accounts
      where poll_at <= now()
      and lease_until <= now()
      and ${isUnlimited(sql)}
    ),
    failing as (
      select platform, count(*)::int as accounts
      from automation_accounts
      where poll_at < 'infinity'
      and failures >= ${FAILING_AFTER}
      group by platform
    )
    select
      (select count(*)::int from waiting) as waiting,
      (select min(created_at) from waiting) as oldest_waiting_at,
      (select count(*)::int from due) as due,
      (select min(poll_at) from due) as oldest_due_at,
      coalesce((select jsonb_object_agg(platform, accounts) from failing), '{}') as failing`;
  if (row === undefined) throw new Error("automations could not be counted");
  return row;
}

/** As operators see unfinished actions. `limited`: waiting for a rate limit of their account. */
export const ACTION_STATES = ["due", "paused", "limited", "working", "unknown"] as const;

/** Number of the unfinished actions on comments of one type in one state. */
interface ActionCount {
  readonly type: ActionType;
  readonly state: (typeof ACTION_STATES)[number];
  readonly count: number;
  /** When the action on a comment that has been ready for longest became ready. */
  readonly since: Date;
}

/** Counts the unfinished actions on comments that do not wait for a retry. */
export async function countActions(sql: ISql): Promise<readonly ActionCount[]> {
  // Each subquery names the statuses of a partial index, so that Postgres reads that index and no
  // ended actions.
  return await sql<ActionCount[]>`
    select type, state, count(*)::int as count, min(wake_at) as since
    from (
      select a.type, a.wake_at,
        case
          when a.status = 'unknown' then 'unknown'
          when exists (select 1 from pauses where ${isPaused(sql)}) then 'paused'
          when greatest(q.not_before, ${limitedUntil(sql)}) > now() then 'limited'
          else 'due'
        end as state
      from comment_action_queues q
      join comment_actions a on a.account_id = q.account_id
      where q.wake_at is not null
      and a.status in ('queued', 'working', 'unknown', 'reconciling')
      and (a.status = 'unknown' or (a.status = 'queued' and a.wake_at <= now()))
      union all
      select type, wake_at, case when status = 'reconciling' then 'unknown' else 'working' end as state
      from comment_actions
      where status in ('working', 'calling', 'reconciling')
    ) as t
    group by type, state`;
}

interface MetricsCounts {
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
    left join app_budgets app on app.platform = named.platform and app.name = 'metrics'`;
}
