import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { PlatformBrake } from "#src/publishing/domain/platform-brake.ts";

/**
 * Selects the platforms whose publishing calls are held because earlier ones got no answer, and whose next probe (a
 * call that tests whether the platform answers again) is not due yet. Their tasks are not claimed.
 */
export function heldPlatforms(sql: ISql) {
  return sql`
    select platform
    from platform_brakes
    where probe_at > now()`;
}

/** SQL condition: publishing calls to the platform of task `t` are held because earlier ones got no answer. */
export function isPlatformHeld(sql: ISql) {
  return sql`
    t.platform in (
      select platform
      from platform_brakes
      where held_since is not null
    )`;
}

function brakeColumns(sql: ISql) {
  return sql`
    platform, unknowns_in_row, account_id, is_several_accounts, failed_probes, held_since, probe_at`;
}

/**
 * Returns the stored brakes of the given platforms: rows that say whether publishing calls to a platform are held. The
 * calls to a platform without a row are not held.
 */
export async function findBrakes(
  sql: ISql,
  platforms: readonly string[],
): Promise<readonly PlatformBrake[]> {
  return await sql<PlatformBrake[]>`
    select ${brakeColumns(sql)}
    from platform_brakes
    where platform in ${sql(platforms)}`;
}

/**
 * Locks and returns the brakes of the given platforms: rows that say whether publishing calls to a platform are held.
 * They are locked in the order of the platforms, so that two transactions cannot deadlock.
 */
export async function lockBrakes(
  tx: TransactionSql,
  platforms: readonly string[],
): Promise<readonly PlatformBrake[]> {
  const inOrder = platforms.toSorted();
  // The missing row of a platform is created first, because a row that does not exist cannot be locked. If a concurrent
  // transaction creates the same row, the statement waits for that transaction.
  await tx`
    insert into platform_brakes (platform)
    select platform
    from unnest(${tx.typed.texts([...inOrder])}) as platform
    on conflict (platform) do nothing`;
  return await tx<PlatformBrake[]>`
    select ${brakeColumns(tx)}
    from platform_brakes
    where platform in ${tx(inOrder)}
    order by platform
    for update`;
}

/**
 * Writes the new state of platform brakes, which say whether publishing calls are held. The caller has locked their
 * rows.
 */
export async function updateBrakes(
  tx: TransactionSql,
  brakes: readonly PlatformBrake[],
): Promise<void> {
  const rows = brakes.map((brake) => ({
    platform: brake.platform,
    unknowns_in_row: brake.unknownsInRow,
    account_id: brake.accountId,
    is_several_accounts: brake.isSeveralAccounts,
    failed_probes: brake.failedProbes,
    held_since: brake.heldSince?.toISOString() ?? null,
    probe_at: brake.probeAt?.toISOString() ?? null,
  }));
  await tx`
    update platform_brakes b
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

/** Allows publishing calls again to all platforms whose publishing calls are held. */
export async function releaseBrakes(sql: ISql): Promise<void> {
  await sql`
    update platform_brakes
    set unknowns_in_row = 0,
      account_id = null,
      is_several_accounts = false,
      failed_probes = 0,
      held_since = null,
      probe_at = null
    where held_since is not null`;
}

/** Returns the platforms whose publishing calls are held because earlier ones got no answer. */
export async function listHeldPlatforms(sql: ISql): Promise<readonly string[]> {
  const rows = await sql<{ platform: string }[]>`
    select platform
    from platform_brakes
    where held_since is not null`;
  return rows.map(({ platform }) => platform);
}
