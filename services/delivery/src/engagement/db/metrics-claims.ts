import type { ISql } from "@postrider/shared/postgres";
import {
  claimableAccounts,
  type MetricsTurn,
  milliseconds,
  NO_WORKSPACE,
  visitedWorkspaces,
} from "./metrics-turns.ts";
import { askedColumns, type AskedTarget } from "./target-metrics.ts";

export interface MetricsClaim extends MetricsTurn {
  /** Maximum number of targets of one account per call. */
  readonly maxTargets: number;
  /** No more accounts are claimed from this number of due targets on; the last may exceed it. */
  readonly enoughTargets: number;
  readonly leaseMs: number;
  /** For this time after it found too few units, the schedule shares those of our app. */
  readonly wantedMs: number;
  /** Targets that become due within this time are refreshed with the due ones. */
  readonly aheadMs: number;
  /** Age of a post from which its metrics are no longer refreshed, even if due. */
  readonly endMs: number;
}

export interface ClaimedTarget extends AskedTarget {
  /** Whether the post became too old while the refresh was due, so that none is made. */
  readonly isExpired: boolean;
}

/** An account claimed for one call. */
export interface ClaimedAccount {
  readonly accountId: string;
  readonly workspaceId: string;
  /** Empty if the stored due time of the account was too early. */
  readonly targets: readonly ClaimedTarget[];
}

export interface MetricsClaimed {
  readonly accounts: readonly ClaimedAccount[];
  /** The workspace after which the next claim continues. */
  readonly after: string;
}

interface Visit {
  /** The last workspace that the claim looked at; null after the last one of all. */
  readonly visitedTo: string | null;
  /** Whether an account of these workspaces could be claimed if the budget of our app allows it. */
  readonly isTurnOpen: boolean;
  /** The workspace whose turn it was; null if the account was claimed because it waited longest. */
  readonly turnOf: string | null;
}

type ClaimRow = ClaimedTarget &
  Visit & {
    readonly claimedAccountId: string;
    readonly claimedWorkspaceId: string;
    /** Null if no target of the account is due. */
    readonly targetId: string | null;
  };

/**
 * SQL condition: a workspace wanted units for a refresh by hand a short time ago, and the schedule
 * took units after which the same number is left to the workspaces.
 */
function isTurnOfOthers(
  sql: ISql,
  { platform, bucket, wantedMs }: Pick<MetricsClaim, "platform" | "bucket" | "wantedMs">,
) {
  const shortTime = milliseconds(sql, Math.max(wantedMs, 2 * bucket.intervalMs));
  const shares = sql`
    select
    from app_budget_shares
    where platform = ${platform}
    and name = 'metrics'`;
  return sql`(
    exists (${shares} and workspace_id = ${NO_WORKSPACE}::uuid and taken_at > now())
    and exists (${shares} and workspace_id <> ${NO_WORKSPACE}::uuid and taken_at > now() - ${shortTime})
  )`;
}

/** Calls that our app's budget allows now; no row if the platform has a budget per account. */
function appCalls(sql: ISql, { platform, bucket, wantedMs }: MetricsClaim) {
  // The lock makes the claims of all processes use the call budget of our app one after the other.
  return sql`
    select case
      when limited_until > now() or ${isTurnOfOthers(sql, { platform, bucket, wantedMs })} then 0
      else greatest(0, floor((
        ${bucket.burst}::float8
          - extract(epoch from greatest(budget_until - now(), interval '0')) * 1000 / ${bucket.intervalMs}::float8
      ) / ${bucket.unitsPerCall}::float8))::int
    end as calls
    from app_budgets
    where platform = ${platform}
    and name = 'metrics'
    and ${bucket.scope === "app"}
    for no key update`;
}

/** Accounts with due metrics, whether a budget allows a call or not. */
export function dueAccounts(sql: ISql, platforms: readonly string[]) {
  return sql`
    select from metrics_accounts
    where platform = any(${[...platforms]}::text[])
    and wake_at <= now()
    and wake_at < 'infinity'`;
}

/** The same statement charges the calls, so that all processes together keep to the budget. */
export async function claimDueTargets(sql: ISql, claim: MetricsClaim): Promise<MetricsClaimed> {
  const rows = await sql<(ClaimRow | (Visit & { readonly claimedAccountId: null }))[]>`
    with recursive app as materialized (${appCalls(sql, claim)}),
    visited as (${visitedWorkspaces(sql, claim)}),
    locked as materialized (${claimableAccounts(sql, claim)}),
    due as materialized (
      select account_id, workspace_id, turn, step, row_number() over (order by turn nulls last, step, wake_at) as place
      from locked
      order by place
      limit (select calls from app)
    ),
    found as materialized (${dueTargets(sql, claim)}),
    claimed as materialized (${enoughTargets(sql, claim)}),
    taken as (${takeAccounts(sql, claim)}),
    units_used as materialized (${unitsUsed(sql, claim)}),
    used as (${useAppBudget(sql, claim)}),
    shared as (${shareAppBudget(sql, claim)})
    select visit.visited_to, exists (select from locked where turn = 1) as is_turn_open,
      case when claimed.turn = 1 then claimed.claimed_workspace_id end as turn_of,
      claimed_account_id, claimed_workspace_id, target_id, workspace_id, account_id, platform, external_id,
      asked_at, age_ms, failure_count, missing_count, is_expired
    from (
      select (select workspace_id from visited order by step desc limit 1) as visited_to
    ) as visit
    left join claimed on true
    order by claimed.place`;
  const claimed = rows.filter((row) => row.claimedAccountId !== null);
  const inTurn = rows.findLast(({ turnOf }) => turnOf !== null)?.turnOf;
  const [visit] = rows;
  const stay = visit?.isTurnOpen === true ? claim.after : null;
  return {
    accounts: [...Map.groupBy(claimed, (row) => row.claimedAccountId)].map(([accountId, own]) => ({
      accountId,
      workspaceId: own[0]?.claimedWorkspaceId ?? "",
      targets: own.flatMap(toTarget),
    })),
    after: inTurn ?? stay ?? visit?.visitedTo ?? NO_WORKSPACE,
  };
}

function toTarget(row: ClaimRow): readonly ClaimedTarget[] {
  const {
    claimedAccountId: _a,
    claimedWorkspaceId: _w,
    visitedTo: _v,
    isTurnOpen: _o,
    turnOf: _t,
    ...target
  } = row;
  return row.targetId === null ? [] : [target];
}

/** Of each account, those that have been due for longest. */
function dueTargets(sql: ISql, claim: MetricsClaim) {
  return sql`
    select due.place, due.turn, due.account_id as claimed_account_id, due.workspace_id as claimed_workspace_id, target.target_id,
      target.workspace_id, target.account_id, target.platform, target.external_id, target.asked_at, target.age_ms,
      target.failure_count, target.missing_count, target.is_expired
    from due
    left join lateral (
      select ${askedColumns(sql)}, t.published_at <= now() - ${milliseconds(sql, claim.endMs)} as is_expired
      from target_metrics t
      where t.account_id = due.account_id
      and t.due_at <= now() + ${milliseconds(sql, claim.aheadMs)}
      and t.due_at < 'infinity'
      order by t.due_at
      limit ${claim.maxTargets}
    ) as target on true`;
}

/** Leaves out accounts that are not needed, because those before them have enough targets. */
function enoughTargets(sql: ISql, { enoughTargets: enough }: MetricsClaim) {
  return sql`
    select found.*
    from found
    join (
      select claimed_account_id,
        coalesce(sum(count(*) filter (where not is_expired)) over (
          order by min(place)
          rows between unbounded preceding and 1 preceding
        ), 0) as targets_before
      from found
      group by claimed_account_id
    ) as account on account.claimed_account_id = found.claimed_account_id
    where account.targets_before < ${enough}::float8`;
}

function takeAccounts(sql: ISql, { bucket, leaseMs }: MetricsClaim) {
  return sql`
    update metrics_accounts a
    set not_before = now() + ${milliseconds(sql, leaseMs)},
      budget_until = case
        when ${bucket.scope === "app"} or taken_account.asked = 0 then a.budget_until
        else greatest(a.budget_until, now()) + ${milliseconds(sql, bucket.intervalMs)}
      end
    from (
      select claimed_account_id, count(*) filter (where not is_expired) as asked
      from claimed
      group by claimed_account_id
    ) as taken_account
    where a.account_id = taken_account.claimed_account_id`;
}

function useAppBudget(sql: ISql, { platform, bucket }: MetricsClaim) {
  return sql`
    update app_budgets app
    set budget_until = greatest(app.budget_until, now()) + used.units * ${milliseconds(sql, bucket.intervalMs)}
    from units_used as used
    where app.platform = ${platform}
    and app.name = 'metrics'
    and used.units > 0`;
}

function unitsUsed(sql: ISql, { bucket }: MetricsClaim) {
  return sql`
    select case when ${bucket.isPerPost} then count(*) else count(distinct account_id) end as units
    from claimed
    where not is_expired`;
}

/**
 * The schedule counts as one of the workspaces that share the units while it finds too few, and
 * until twice its units are usable again it leaves units to those.
 */
function shareAppBudget(sql: ISql, { platform, bucket, wantedMs }: MetricsClaim) {
  const { intervalMs } = bucket;
  return sql`
    insert into app_budget_shares as s (platform, name, workspace_id, budget_until, taken_at)
    select ${platform}, 'metrics', ${NO_WORKSPACE}::uuid,
      now() + case when app.calls = 0 then ${milliseconds(sql, wantedMs + 2 * intervalMs)} else interval '0' end,
      now() + used.units * ${milliseconds(sql, 2 * intervalMs)}
    from app
    cross join units_used as used
    where (app.calls = 0 and exists (select from locked))
    or used.units > 0
    on conflict (platform, name, workspace_id) do update
    set budget_until = greatest(s.budget_until, excluded.budget_until),
      taken_at = greatest(s.taken_at, excluded.taken_at)`;
}
