import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type {
  QuotaDemand,
  QuotaExhaustion,
  QuotaKey,
  QuotaState,
  QuotaUsage,
} from "#src/domain/quota.ts";

/** Amounts that are added even if the limit is exceeded; negative ones are subtracted. */
export interface QuotaMove extends QuotaKey {
  readonly used: number;
  readonly reserved: number;
  readonly released: number;
}

interface ReservedRow extends QuotaUsage, QuotaKey {
  readonly isExhausted: boolean;
}

export interface Reservation {
  readonly demands: readonly QuotaDemand[];
  /** The time of the request by the database's clock. */
  readonly now: Date;
}

/**
 * Negative demands are subtracted. A counter that a demand would raise above its limit is not
 * changed and not returned. Rows are checked under locks, which are taken in the order of
 * workspace, period and subject, so that statements never deadlock. The demand that leaves nothing
 * sets `exhausted_at`; the counter is returned with `is_exhausted`.
 */
function quotaReservation(sql: ISql, { demands, now }: Reservation) {
  const rows = demands.map(({ workspaceId, subject, period, requested, limit }) => ({
    workspace_id: workspaceId,
    subject,
    period,
    requested,
    allowed: limit,
  }));
  const allowed = sql`(
    select allowed
    from jsonb_to_recordset(${sql.json(rows)})
      as demand (workspace_id uuid, subject text, period text, allowed int)
    where demand.workspace_id = quota_usage.workspace_id
    and demand.subject = quota_usage.subject
    and demand.period = quota_usage.period
  )`;
  return sql`
    insert into quota_usage (workspace_id, subject, period, reserved, exhausted_at)
    select workspace_id, subject, period, requested,
      case when requested = allowed then ${now}::timestamptz end
    from jsonb_to_recordset(${sql.json(rows)})
      as demand (workspace_id uuid, subject text, period text, requested int, allowed int)
    where requested between 1 and allowed
    or (requested < 0 and exists (
      select 1
      from quota_usage
      where quota_usage.workspace_id = demand.workspace_id
      and quota_usage.subject = demand.subject
      and quota_usage.period = demand.period
    ))
    order by workspace_id, period collate "C", subject collate "C"
    on conflict (workspace_id, subject, period) do update
    set reserved = greatest(quota_usage.reserved + excluded.reserved, 0),
      exhausted_at = case
        when quota_usage.exhausted_at is null
        and excluded.reserved > 0
        and counted(quota_usage) + excluded.reserved = ${allowed}
        then ${now}::timestamptz
        else quota_usage.exhausted_at
      end
    where excluded.reserved < 0
    or (
      counted(quota_usage) + excluded.reserved <= ${allowed}
      and quota_usage.released < max_released(${allowed})
    )
    returning workspace_id, subject, period, used, reserved,
      coalesce(exhausted_at = ${now}::timestamptz, false) as is_exhausted`;
}

interface Reserved {
  readonly exhausted: readonly QuotaExhaustion[];
  readonly short: readonly QuotaDemand[];
}

/**
 * Returns the counters of workspaces that are used up now, and the demands that would exceed a
 * limit: then the caller rolls back, because the other demands were reserved.
 */
export async function reserveQuota(
  tx: TransactionSql,
  reservation: Reservation,
): Promise<Reserved> {
  const { demands, now } = reservation;
  if (demands.length === 0) return { exhausted: [], short: [] };
  const rows = (await quotaReservation(
    tx,
    reservation,
  ).execute()) as unknown as readonly ReservedRow[];
  const rowOf = ({ workspaceId, subject, period }: QuotaDemand) =>
    rows.find(
      (row) => row.workspaceId === workspaceId && row.subject === subject && row.period === period,
    );
  return {
    exhausted: demands.flatMap((demand) => {
      const row = rowOf(demand);
      if (row?.isExhausted !== true || demand.code === "daily_shared") return [];
      return { ...demand, used: row.used, reserved: row.reserved, exhaustedAt: now };
    }),
    short: demands.filter((demand) => demand.requested > 0 && rowOf(demand) === undefined),
  };
}

/** Even above limits; each counter once. Locked in the order of `quotaReservation`. */
export async function moveQuota(tx: TransactionSql, moves: readonly QuotaMove[]): Promise<void> {
  const rows = moves
    .filter((move) => move.used !== 0 || move.reserved !== 0 || move.released !== 0)
    .map(({ workspaceId, ...move }) => ({ workspace_id: workspaceId, ...move }));
  if (rows.length === 0) return;
  // A quota counter without a row counts as zero. A negative amount therefore inserts the row with
  // zero.
  await tx`
    insert into quota_usage (workspace_id, subject, period, used, reserved, released)
    select workspace_id, subject, period,
      case when is_known then used else greatest(used, 0) end,
      case when is_known then reserved else greatest(reserved, 0) end,
      case when is_known then released else greatest(released, 0) end
    from jsonb_to_recordset(${tx.json(rows)})
      as move (workspace_id uuid, subject text, period text, used int, reserved int, released int),
    lateral (
      select exists (
        select 1
        from quota_usage
        where quota_usage.workspace_id = move.workspace_id
        and quota_usage.subject = move.subject
        and quota_usage.period = move.period
      ) as is_known
    ) as known
    order by workspace_id, period collate "C", subject collate "C"
    on conflict (workspace_id, subject, period) do update
    set used = greatest(quota_usage.used + excluded.used, 0),
      reserved = greatest(quota_usage.reserved + excluded.reserved, 0),
      released = greatest(quota_usage.released + excluded.released, 0)`;
}

/** A counter that was never used is missing in the result. */
export async function listQuotaUsage(
  sql: ISql,
  keys: readonly QuotaKey[],
): Promise<readonly (QuotaState & QuotaKey)[]> {
  const rows = keys.map(({ workspaceId, subject, period }) => ({
    workspace_id: workspaceId,
    subject,
    period,
  }));
  return await sql<(QuotaState & QuotaKey)[]>`
    select workspace_id, subject, period, used, counted(quota_usage) - used as reserved, released
    from quota_usage
    where (workspace_id, subject, period) in (
      select workspace_id, subject, period
      from jsonb_to_recordset(${sql.json(rows)}) as key (workspace_id uuid, subject text, period text)
    )`;
}

/**
 * Of periods before the previous month. A counter with reserved quota stays, because an outcome is
 * open. After a later correction, a missing counter counts as zero.
 */
export async function deletePastCounters(sql: ISql, limit: number): Promise<number> {
  // The periods of quota counters (months and days) are compared as texts, which sort in the order
  // of time. `skip locked` leaves counters that another transaction uses to the next run, so that
  // this statement never waits for the transaction of a post. The statement reads the whole table,
  // which is small once old counters are deleted. An index on the period would cost more, because
  // every new counter would have to be added to it.
  const deleted = await sql`
    delete from quota_usage
    where (workspace_id, subject, period) in (
      select workspace_id, subject, period
      from quota_usage
      where period collate "C" < to_char((now() at time zone 'UTC') - interval '1 month', 'YYYY-MM')
      and reserved = 0
      limit ${limit}
      for update skip locked
    )`;
  return deleted.count;
}
