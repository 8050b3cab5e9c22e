import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { PlatformBreaker } from "#src/calls/breaker.ts";

/** The held platforms whose next probe is not due yet; their tasks are not claimed. */
export function heldPlatforms(sql: ISql) {
  return sql`
    select platform
    from platform_breakers
    where probe_at > now()`;
}

export function isPlatformHeld(sql: ISql) {
  return sql`
    t.platform in (
      select platform
      from platform_breakers
      where held_since is not null
    )`;
}

function breakerColumns(sql: ISql) {
  return sql`
    platform, unknowns_in_row, account_id, is_several_accounts, failed_probes, held_since, probe_at`;
}

/** The calls to a platform without a row are not held. */
export async function findBreakers(
  sql: ISql,
  platforms: readonly string[],
): Promise<readonly PlatformBreaker[]> {
  return await sql<PlatformBreaker[]>`
    select ${breakerColumns(sql)}
    from platform_breakers
    where platform in ${sql(platforms)}`;
}

/** Locks in the order of the platforms, so that two transactions cannot deadlock. */
export async function lockPlatformBreakers(
  tx: TransactionSql,
  platforms: readonly string[],
): Promise<readonly PlatformBreaker[]> {
  const inOrder = platforms.toSorted();
  // The missing row of a platform is created first, because a row that does not exist cannot be
  // locked. If a concurrent transaction creates the same row, the statement waits for that
  // transaction.
  await tx`
    insert into platform_breakers (platform)
    select platform
    from unnest(${tx.typed.texts([...inOrder])}) as platform
    on conflict (platform) do nothing`;
  return await tx<PlatformBreaker[]>`
    select ${breakerColumns(tx)}
    from platform_breakers
    where platform in ${tx(inOrder)}
    order by platform
    for update`;
}

/** The caller has locked the rows. */
export async function updateBreakers(
  tx: TransactionSql,
  breakers: readonly PlatformBreaker[],
): Promise<void> {
  const rows = breakers.map((breaker) => ({
    platform: breaker.platform,
    unknowns_in_row: breaker.unknownsInRow,
    account_id: breaker.accountId,
    is_several_accounts: breaker.isSeveralAccounts,
    failed_probes: breaker.failedProbes,
    held_since: breaker.heldSince?.toISOString() ?? null,
    probe_at: breaker.probeAt?.toISOString() ?? null,
  }));
  await tx`
    update platform_breakers b
    set unknowns_in_row = k.unknowns_in_row,
      account_id = k.account_id,
      is_several_accounts = k.is_several_accounts,
      failed_probes = k.failed_probes,
      held_since = k.held_since,
      probe_at = k.probe_at
    from jsonb_to_recordset(${tx.json(rows)}) as k(
      platform text, unknowns_in_row int, account_id uuid, is_several_accounts boolean,
      failed_probes int, held_since timestamptz, probe_at timestamptz
    )
    where b.platform = k.platform`;
}

export async function closeBreakers(sql: ISql): Promise<void> {
  await sql`
    update platform_breakers
    set unknowns_in_row = 0,
      account_id = null,
      is_several_accounts = false,
      failed_probes = 0,
      held_since = null,
      probe_at = null
    where held_since is not null`;
}

export async function listHeldPlatforms(sql: ISql): Promise<readonly string[]> {
  const rows = await sql<{ platform: string }[]>`
    select platform
    from platform_breakers
    where held_since is not null`;
  return rows.map(({ platform }) => platform);
}
