import type { Deployment } from "@postrider/shared/deployment/ownership";
import * as deployments from "@postrider/shared/deployment/table";
import type { ISql } from "@postrider/shared/postgres";
import type { DataCopy } from "#src/publishing/domain/restore.ts";

/** The deployment that the data belongs to, when it was last seen there, and what is known of restores. */
export interface DeploymentRow extends Deployment, DataCopy {
  /** Never goes back while the data goes on. */
  readonly seenAt: Date;
  readonly restoredAt: Date | null;
  readonly dataUntil: Date | null;
}

/** Restores this close to each other count as one, with the oldest backup of them. */
const ONE_RESTORE_HOURS = 24;

function currentTable(sql: ISql) {
  return sql`'deployment'::regclass::oid::bigint`;
}

/** Of the log that is being written: what `pg_control_checkpoint()` says is older for a moment after a promotion. */
function currentTimeline(sql: ISql) {
  return sql`('x' || substr(pg_walfile_name(pg_current_wal_insert_lsn()), 1, 8))::bit(32)::int`;
}

/** Whether the data lies where it did when it was last compared, for a query that names `deployment` as `d`. */
export function isInPlace(sql: ISql) {
  return sql`
    (d.system_identifier, d.database_oid, d.table_oid, d.timeline) = (
      select p.system_identifier, p.database_oid, ${currentTable(sql)}, ${currentTimeline(sql)}
      from (${deployments.currentPlace(sql)}) as p
    )`;
}

/**
 * Whether a restore has put it in doubt what a task says, and the platform has not been asked since, for a query that
 * names `publish_tasks` as `t` and `deployment` as `d`.
 */
export function isDoubtful(sql: ISql) {
  return sql`
    (d.restored_at is not null and t.due_at < d.restored_at
      and (t.doubted_at is null or t.doubted_at < d.restored_at))`;
}

/** Records which deployment the data belongs to, unless it is recorded: the first process that starts decides. */
export async function insertDeployment(sql: ISql, deploymentId: string): Promise<void> {
  await deployments.insertDeployment(sql, deploymentId, {
    names: sql`table_oid, timeline, seen_at`,
    values: sql`${currentTable(sql)}, ${currentTimeline(sql)}, clock_timestamp()`,
  });
}

/** The deployment that the data belongs to and the one that uses it; undefined while no process has recorded it. */
export async function findDeployment(
  sql: ISql,
  deploymentId: string,
): Promise<
  { readonly stored: DeploymentRow; readonly current: Deployment & DataCopy } | undefined
> {
  const [row] = await sql<(DeploymentRow & { current: Deployment & DataCopy })[]>`
    select d.system_identifier, d.database_oid, d.table_oid, d.timeline, d.deployment_id, d.seen_at,
      d.restored_at, d.data_until,
      json_build_object(
        'systemIdentifier', p.system_identifier,
        'databaseOid', p.database_oid,
        'deploymentId', ${deploymentId}::text,
        'tableOid', ${currentTable(sql)},
        'timeline', ${currentTimeline(sql)}
      ) as current
    from deployment d
    cross join (${deployments.currentPlace(sql)}) as p`;
  return row === undefined ? undefined : { stored: row, current: row.current };
}

/** Records that the data is in use where it belongs; at most once in 30 s, over all processes. */
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
 * Makes foreign data the deployment's own, and puts in doubt what was due. Of several calls at once, one does it.
 *
 * @returns False when the data belongs to this deployment already.
 */
export async function adoptDeployment(sql: ISql, deploymentId: string): Promise<boolean> {
  return await deployments.adoptDeployment(sql, deploymentId, {
    names: sql`table_oid, timeline, restored_at, data_until, seen_at`,
    values: sql`
      ${currentTable(sql)}, ${currentTimeline(sql)}, ${restoredNow(sql)}, ${dataUntil(sql, sql`d.seen_at`)},
      greatest(clock_timestamp(), d.seen_at)`,
  });
}

/**
 * Records that the deployment's own data was restored, which puts in doubt what was due. Of several processes that notice
 * it, one writes.
 *
 * @param rememberedAt The latest `seenAt` that the process had read before.
 */
export async function recordRestore(
  sql: ISql,
  deploymentId: string,
  rememberedAt: Date | undefined,
): Promise<void> {
  const remembered = rememberedAt?.toISOString() ?? null;
  await sql`
    update deployment d
    set table_oid = ${currentTable(sql)},
      timeline = ${currentTimeline(sql)},
      restored_at = ${restoredNow(sql)},
      data_until = ${dataUntil(sql, sql`d.seen_at`)},
      seen_at = greatest(clock_timestamp(), d.seen_at, ${remembered}::timestamptz)
    where ${deployments.isOwnData(sql, deploymentId)}
    and (
      (d.table_oid, d.timeline) <> (${currentTable(sql)}, ${currentTimeline(sql)})
      or d.seen_at < ${remembered}::timestamptz
    )`;
}

/** Records an operator's word that the data was restored just now. Since when calls are missing is not known then. */
export async function markRestored(sql: ISql): Promise<void> {
  await sql`
    update deployment d
    set restored_at = ${restoredNow(sql)},
      data_until = ${dataUntil(sql, sql`null::timestamptz`)}`;
}
