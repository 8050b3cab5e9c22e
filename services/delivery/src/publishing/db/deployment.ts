import type { ISql } from "@postrider/shared/postgres";
import type { DataPlace, Origin } from "#src/publishing/domain/origin.ts";

/** What is stored about the data's origin, and what came of restores. */
export interface DeploymentRow extends Origin {
  readonly restoredAt: Date | null;
  readonly dataUntil: Date | null;
}

/** Restores so close to each other count as one, with the oldest backup of them. */
const ONE_RESTORE_HOURS = 24;

/**
 * Where the data lies now. The timeline is that of the log that is being written: what `pg_control_checkpoint()` says is
 * older for a moment after a standby was promoted. All of it may be asked by any role.
 */
function presentPlace(sql: ISql) {
  return sql`
    select system_identifier::text as system_identifier,
      (select oid::bigint from pg_database where datname = current_database()) as database_oid,
      'deployment'::regclass::oid::bigint as table_oid,
      ('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int as timeline
    from pg_control_system()`;
}

/** Whether the data lies where it did when it was last judged, for a query that names `deployment` as `d`. */
export function isInPlace(sql: ISql) {
  return sql`
    (d.system_identifier, d.database_oid, d.table_oid, d.timeline) = (${presentPlace(sql)})`;
}

/**
 * Whether a restore has put it in doubt what a task says, and the platform has not been looked at since, for a query that
 * names `publish_tasks` as `t` and `deployment` as `d`.
 */
export function isDoubtful(sql: ISql) {
  return sql`
    (d.restored_at is not null and t.due_at < d.restored_at
      and (t.doubted_at is null or t.doubted_at < d.restored_at))`;
}

/** Writes where the data belongs unless somebody has: the first process that starts decides. */
export async function insertDeployment(sql: ISql, deploymentId: string): Promise<void> {
  await sql`
    insert into deployment (
      system_identifier, database_oid, table_oid, timeline, deployment_id, seen_at
    )
    select p.system_identifier, p.database_oid, p.table_oid, p.timeline, ${deploymentId}, clock_timestamp()
    from (${presentPlace(sql)}) as p
    on conflict (only_row) do nothing`;
}

/** Where the data lies and where it belongs; undefined when nobody has written that yet. */
export async function findDeployment(
  sql: ISql,
): Promise<{ readonly place: DataPlace; readonly stored: DeploymentRow } | undefined> {
  const [row] = await sql<(DeploymentRow & { place: DataPlace })[]>`
    select d.system_identifier, d.database_oid, d.table_oid, d.timeline, d.deployment_id, d.seen_at,
      d.restored_at, d.data_until,
      json_build_object(
        'systemIdentifier', p.system_identifier,
        'databaseOid', p.database_oid,
        'tableOid', p.table_oid,
        'timeline', p.timeline
      ) as place
    from deployment d
    cross join (${presentPlace(sql)}) as p`;
  return row === undefined ? undefined : { place: row.place, stored: row };
}

/** Notes that the data is in use where it belongs; at most once in half a minute, over all processes. */
export async function touchDeployment(sql: ISql): Promise<void> {
  await sql`
    update deployment
    set seen_at = clock_timestamp()
    where seen_at < clock_timestamp() - interval '30 seconds'`;
}

/** The end of what the data knows: the oldest of restores that belong together. */
function dataUntil(sql: ISql, known: ReturnType<typeof sql>) {
  return sql`
    least(${known}, case
      when d.restored_at > clock_timestamp() - ${ONE_RESTORE_HOURS} * interval '1 hour' then d.data_until
    end)`;
}

/** Later than any restore before, also on a machine whose clock is behind. */
function restoredNow(sql: ISql) {
  return sql`
    greatest(clock_timestamp(), d.restored_at + interval '1 millisecond')`;
}

/**
 * Takes data over that belongs elsewhere: from now on it belongs here, and what was due is in doubt. Of several at once
 * one does it.
 *
 * @returns False when it belongs here already.
 */
export async function adoptDeployment(sql: ISql, deploymentId: string): Promise<boolean> {
  const result = await sql`
    update deployment d
    set system_identifier = p.system_identifier,
      database_oid = p.database_oid,
      table_oid = p.table_oid,
      timeline = p.timeline,
      deployment_id = ${deploymentId},
      restored_at = ${restoredNow(sql)},
      data_until = ${dataUntil(sql, sql`d.seen_at`)},
      seen_at = greatest(clock_timestamp(), d.seen_at)
    from (${presentPlace(sql)}) as p
    where (d.system_identifier, d.database_oid, d.table_oid, d.timeline, d.deployment_id)
      <> (p.system_identifier, p.database_oid, p.table_oid, p.timeline, ${deploymentId})`;
  return result.count > 0;
}

/**
 * Notes that the data was restored where it belongs, which puts what was due in doubt. Of several processes that notice
 * it one writes.
 *
 * @param rememberedAt The latest `seenAt` that the process had met before.
 */
export async function noteRestore(
  sql: ISql,
  deploymentId: string,
  rememberedAt: Date | undefined,
): Promise<void> {
  const remembered = rememberedAt?.toISOString() ?? null;
  await sql`
    update deployment d
    set table_oid = p.table_oid,
      timeline = p.timeline,
      restored_at = ${restoredNow(sql)},
      data_until = ${dataUntil(sql, sql`d.seen_at`)},
      seen_at = greatest(clock_timestamp(), d.seen_at, ${remembered}::timestamptz)
    from (${presentPlace(sql)}) as p
    where (d.system_identifier, d.database_oid, d.deployment_id)
      = (p.system_identifier, p.database_oid, ${deploymentId})
    and (
      (d.table_oid, d.timeline) <> (p.table_oid, p.timeline)
      or d.seen_at < ${remembered}::timestamptz
    )`;
}

/** Takes an operator's word that the data was restored just now. Since when calls are missing is not known then. */
export async function markRestored(sql: ISql): Promise<void> {
  await sql`
    update deployment d
    set restored_at = ${restoredNow(sql)},
      data_until = ${dataUntil(sql, sql`null::timestamptz`)}`;
}
