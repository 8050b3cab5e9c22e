import type { ISql } from "@postrider/shared/postgres";
import type { Bucket } from "#src/engagement/domain/call-budget.ts";

export interface MetricsTurn {
  readonly platform: string;
  /** The workspaces take turns: the next one after this has the first. */
  readonly after: string;
  readonly maxAccounts: number;
  readonly bucket: Bucket;
}

/** Before the first workspace. */
export const NO_WORKSPACE = "00000000-0000-0000-0000-000000000000";

export function milliseconds(sql: ISql, ms: number) {
  return sql`${ms}::float8 * interval '1 millisecond'`;
}

/** Maximum number of workspaces that a claim looks at, and of accounts of each. */
const [MAX_WORKSPACES, MAX_PER_WORKSPACE] = [20, 10];

/** SQL condition on an account that is due: its own budget allows a call. */
function isClaimable(sql: ISql, { platform, bucket }: MetricsTurn) {
  const aheadMs = (bucket.burst - 1) * bucket.intervalMs;
  return sql`
    platform = ${platform}
    and wake_at <= now()
    and wake_at < 'infinity'
    and (${bucket.scope === "app"} or budget_until <= now() + ${milliseconds(sql, aheadMs)})`;
}

/** The workspaces after `after`, whether their accounts are due or not. One step reads one row. */
export function visitedWorkspaces(sql: ISql, { platform, after }: MetricsTurn) {
  const next = (previous: ReturnType<ISql>) => sql`
    (
      select workspace_id
      from metrics_accounts
      where platform = ${platform}
      and wake_at < 'infinity'
      and workspace_id > ${previous}
      order by workspace_id
      limit 1
    )`;
  return sql`
    select 1 as step, ${next(sql`${after}::uuid`)} as workspace_id
    union all
    select visited.step + 1, ${next(sql`visited.workspace_id`)}
    from visited
    where visited.workspace_id is not null
    and visited.step < ${MAX_WORKSPACES}`;
}

/**
 * Accounts whose own budget allows a call: of the visited workspaces in turn, and then those that
 * have waited for longest, so that no place stays unused.
 */
export function claimableAccounts(sql: ISql, claim: MetricsTurn) {
  const { maxAccounts } = claim;
  // An account that another process is claiming is skipped. The conditions are checked again under
  // the lock.
  return sql`
    select account.account_id, account.workspace_id, account.wake_at, candidate.turn, candidate.step
    from (
      select account_id, min(turn) as turn, min(step) as step
      from (
        select due.account_id, visited.step,
          row_number() over (partition by visited.step order by due.wake_at) as turn
        from visited
        cross join lateral (
          select account_id, wake_at
          from metrics_accounts
          where workspace_id = visited.workspace_id
          and ${isClaimable(sql, claim)}
          order by wake_at
          limit ${MAX_PER_WORKSPACE}
        ) as due
        union all
        select account_id, null, null
        from (
          select account_id
          from metrics_accounts
          where ${isClaimable(sql, claim)}
          order by wake_at
          limit ${maxAccounts}
        ) as oldest
      ) as found
      group by account_id
    ) as candidate
    join metrics_accounts account on account.account_id = candidate.account_id
    where ${isClaimable(sql, claim)}
    order by candidate.turn nulls last, candidate.step, account.wake_at
    limit ${maxAccounts}
    for no key update of account skip locked`;
}
