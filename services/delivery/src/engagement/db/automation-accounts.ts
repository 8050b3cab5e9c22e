import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { Bucket } from "#src/engagement/domain/call-budget.ts";

interface AccountRef {
  readonly workspaceId: string;
  readonly accountId: string;
}

/** An account whose comments this process polls, under a lease. */
export interface PolledAccount extends AccountRef {
  readonly platform: string;
  readonly fence: number;
  readonly failures: number;
  /** Where the next poll continues the list of older media; null = at the newest of them. */
  readonly mediaCursor: string | null;
  /** When the account was claimed, in microseconds, as Postgres writes a time. */
  readonly claimedAt: string;
}

export interface PollEnd {
  readonly waitMs: number;
  readonly failures: number;
  readonly error: string | null;
  /** No process polls the account before `waitMs` is over. */
  readonly isLimited: boolean;
  readonly mediaCursor: string | null;
}

/**
 * Locks the row of an account, and returns the time of the database after that. While a transaction
 * holds the lock, no other one stores runs of the account or changes the status of its rules.
 */
export async function lockAccount(
  tx: TransactionSql,
  account: AccountRef & { readonly platform: string },
): Promise<Date> {
  const { accountId, workspaceId, platform } = account;
  await tx`
    insert into automation_accounts (account_id, workspace_id, platform, poll_at)
    values (${accountId}, ${workspaceId}, ${platform}, 'infinity')
    on conflict (account_id) do nothing`;
  await tx`
    select 1
    from automation_accounts
    where account_id = ${accountId}
    for no key update`;
  const [row] = await tx<{ now: Date }[]>`select clock_timestamp() as now`;
  if (row === undefined) throw new Error("the database returned no time");
  return row.now;
}

/** Also resets its failures. If a poll is in progress, another one follows it. */
export async function pollNow(tx: TransactionSql, accountId: string): Promise<void> {
  await tx`
    update automation_accounts
    set poll_at = greatest(clock_timestamp(), limited_until),
      failures = 0
    where account_id = ${accountId}`;
}

/** Returns the database's time after the lock was granted; undefined if the lease is lost. */
export async function keepLease(
  tx: TransactionSql,
  { accountId, fence }: PolledAccount,
  leaseMs: number,
): Promise<Date | undefined> {
  const [row] = await tx<{ now: Date }[]>`
    update automation_accounts
    set lease_until = clock_timestamp() + ${leaseMs} * interval '1 millisecond'
    where account_id = ${accountId}
    and fence = ${fence}
    returning clock_timestamp() as now`;
  return row?.now;
}

export interface CallLimits {
  readonly bucket: Bucket;
  /** Which the next poll needs to be of any use. */
  readonly nextUnits: number;
  readonly leaseMs: number;
}

interface TakenCalls {
  /** Whether the units were used. If not, the calls must not be made. */
  readonly isTaken: boolean;
  readonly unitsLeft: number;
  /** Until `nextUnits` can be used. */
  readonly unitWaitMs: number;
}

/** Also renews the lease of the poll. Returns undefined if the lease is lost. */
export async function takeCalls(
  sql: ISql,
  { accountId, fence }: PolledAccount,
  {
    units,
    bucket: { burst, intervalMs },
    nextUnits,
    leaseMs,
  }: CallLimits & { readonly units: number },
): Promise<TakenCalls | undefined> {
  const [row] = await sql<TakenCalls[]>`
    with budget as materialized (
      select fence, used + ${units}::float8 <= ${burst}::float8 as is_taken, used, now
      from (
        select fence, clock_timestamp() as now,
          extract(epoch from greatest(budget_until - clock_timestamp(), interval '0'))::float8 * 1000 / ${intervalMs}::float8 as used
        from automation_accounts
        where account_id = ${accountId}
        for no key update
      ) as locked
    ),
    taken as (
      update automation_accounts a
      set lease_until = b.now + ${leaseMs} * interval '1 millisecond',
        budget_until = case
          when b.is_taken then b.now + (b.used + ${units}::float8) * ${intervalMs}::float8 * interval '1 millisecond'
          else a.budget_until
        end
      from budget b
      where a.account_id = ${accountId}
      and a.fence = ${fence}
      returning b.is_taken, case when b.is_taken then b.used + ${units}::float8 else b.used end as used
    )
    select is_taken, floor(${burst}::float8 - used)::int as units_left,
      greatest(used + ${nextUnits}::float8 - ${burst}::float8, 0) * ${intervalMs}::float8 as unit_wait_ms
    from taken`;
  return row;
}

/** An account without an active automation rule is polled no more. */
export async function releaseAccount(
  tx: TransactionSql,
  { accountId, fence, claimedAt }: PolledAccount,
  { waitMs, failures, error, isLimited, mediaCursor }: PollEnd,
): Promise<void> {
  // The account is locked first, which an activation of an automation rule does too. So this
  // transaction sees the active rule, or the activation waits and afterwards makes the account due
  // for a poll itself.
  await tx`
    select 1
    from automation_accounts
    where account_id = ${accountId}
    for no key update`;
  const next = tx`now() + ${waitMs} * interval '1 millisecond'`;
  const limitedUntil = isLimited ? next : tx`a.limited_until`;
  // If `poll_at` is later than the claim, an automation rule was activated during the poll and the
  // account must be polled again.
  await tx`
    update automation_accounts a
    set lease_until = '-infinity',
      limited_until = ${limitedUntil},
      poll_at = case
        when exists (select 1 from automation_rules r where r.account_id = a.account_id and r.status = 'active')
          then case
            when a.poll_at > ${claimedAt}::text::timestamptz and a.poll_at < 'infinity' then greatest(a.poll_at, ${limitedUntil})
            else ${next}
          end
        else 'infinity'
      end,
      failures = ${failures},
      last_error = ${error},
      media_cursor = ${mediaCursor},
      polled_at = case when ${error === null} then now() else a.polled_at end
    where a.account_id = ${accountId}
    and a.fence = ${fence}`;
}
