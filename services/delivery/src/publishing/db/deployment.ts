import type { Deployment } from "@postrider/shared/deployment/ownership";
import * as deployments from "@postrider/shared/deployment/table";
import type { ISql } from "@postrider/shared/postgres";
import type { DataCopy, RestoreRecord } from "#src/publishing/domain/restore.ts";

export interface DeploymentRow extends Deployment, DataCopy, RestoreRecord {
  /**
   * Time at which the data was last in use in its own deployment. It only decreases when the data
   * is restored from a backup.
   */
  readonly seenAt: Date;
}

/**
 * Number of hours within which several restores of the data count as one restore, with the oldest
 * of their backups.
 */
export const ONE_RESTORE_HOURS = 24;

/**
 * For this many minutes after a restore from a backup, a target that becomes due may repeat content
 * that was published before. A client repeats a request whose answer it never got, and the restore
 * may have lost the record of the first request.
 */
const REPEATS_MINUTES = 15;

/** The earliest time at which task `t` was due, over all generations of its target. */
export function firstDueAt(sql: ISql) {
  return sql`coalesce(t.first_due_at, t.due_at)`;
}

/**
 * SQL condition: a restore from a backup made it uncertain whether the target of publish task `t`
 * was published, and the platform has not been searched for the post since then. The time at which
 * the target was first due counts, because an earlier publish request (generation), or one that the
 * restore lost, may have published the target. The table `publish_tasks` has the alias `t` and
 * `deployment` the alias `d`.
 */
export function isDoubtful(sql: ISql) {
  return isDoubtfulSince(sql, sql`d.restored_at`);
}

/** The restore before the latest one made task `t` uncertain. */
export function isDoubtfulSinceEarlier(sql: ISql) {
  return isDoubtfulSince(sql, sql`d.undo_restored_at`);
}

function isDoubtfulSince(sql: ISql, restoredAt: ReturnType<typeof sql>) {
  return sql`
    (${restoredAt} is not null
      and ${firstDueAt(sql)} < ${restoredAt} + ${REPEATS_MINUTES} * interval '1 minute'
      and (t.doubted_at is null or t.doubted_at < ${restoredAt}))`;
}

/** Keeps a recorded deployment: the first process that starts records its own. */
export async function insertDeployment(sql: ISql, deploymentId: string): Promise<void> {
  await deployments.insertDeployment(sql, deploymentId, {
    names: sql`table_oid, timeline, seen_at`,
    values: sql`${deployments.currentTable(sql)}, ${deployments.currentTimeline(sql)}, clock_timestamp()`,
  });
}

/** Undefined if no process has recorded a deployment yet. */
export async function findDeployment(
  sql: ISql,
  deploymentId: string,
): Promise<
  | {
      readonly stored: DeploymentRow;
      readonly current: Deployment & DataCopy;
      readonly readAt: Date;
    }
  | undefined
> {
  const [row] = await sql<(DeploymentRow & { current: Deployment & DataCopy; readAt: Date })[]>`
    select d.system_identifier, d.database_oid, d.table_oid, d.timeline, d.deployment_id, d.seen_at,
      d.restored_at, d.data_until, d.trusted_at, d.undo_for, d.lossy_at, now() as read_at,
      json_build_object(
        'systemIdentifier', p.system_identifier,
        'databaseOid', p.database_oid,
        'deploymentId', ${deploymentId}::text,
        'tableOid', ${deployments.currentTable(sql)},
        'timeline', ${deployments.currentTimeline(sql)}
      ) as current
    from deployment d
    cross join (${deployments.currentPlace(sql)}) as p`;
  return row === undefined ? undefined : { stored: row, current: row.current, readAt: row.readAt };
}

/**
 * Records that the data is in use in its own deployment, at most once in 30 s over all processes.
 */
export async function touchDeployment(sql: ISql): Promise<void> {
  await sql`
    update deployment
    set seen_at = clock_timestamp()
    where seen_at < clock_timestamp() - interval '30 seconds'`;
}

/** Up to when restored data is complete; the oldest backup of restores that count as one. */
function dataUntil(sql: ISql, known: ReturnType<typeof sql>) {
  return sql`
    least(${known}, case
      when d.restored_at > clock_timestamp() - ${ONE_RESTORE_HOURS} * interval '1 hour' then d.data_until
    end)`;
}

/**
 * SQL expression: the time of the restore that is being recorded, which has the same value
 * everywhere in a statement. It is later than the time of any earlier restore, even if the clock of
 * the machine is behind. It has whole milliseconds, so that a process that reads the time and sends
 * it back names the same restore.
 */
function restoredNow(sql: ISql) {
  return sql`
    date_trunc('milliseconds', greatest(
      now(), d.restored_at + interval '1 millisecond', d.trusted_at + interval '1 millisecond'
    ))`;
}

/** @param known The time up to which the restored data is complete, as SQL; null if unknown. */
function restoreColumns(sql: ISql, known: ReturnType<typeof sql>) {
  return {
    names: sql`restored_at, data_until, undo_for, undo_restored_at, undo_data_until`,
    values: sql`
      ${restoredNow(sql)}, ${dataUntil(sql, known)}, ${restoredNow(sql)}, d.restored_at, d.data_until`,
  };
}

/**
 * Assigns data that belongs to another deployment of Postrider to this deployment. The publish
 * tasks that were due become uncertain: before such a task is sent, the platform is searched for
 * its post. If several processes call this function at once, one of them changes the data.
 *
 * @returns False if the data already belongs to this deployment.
 */
export async function adoptDeployment(sql: ISql, deploymentId: string): Promise<boolean> {
  const restore = restoreColumns(sql, sql`d.seen_at`);
  return await deployments.adoptDeployment(sql, deploymentId, {
    names: sql`table_oid, timeline, seen_at, ${restore.names}`,
    values: sql`
      ${deployments.currentTable(sql)}, ${deployments.currentTimeline(sql)}, greatest(clock_timestamp(), d.seen_at), ${restore.values}`,
  });
}

/**
 * Records that the deployment's own data was restored from a backup. The publish tasks that were
 * due become uncertain: before such a task is sent, the platform is searched for its post. If
 * several processes notice the restore, only one of them records it.
 *
 * @param rememberedAt The latest `seenAt` (when the data was last in use) that the process had read
 *   before it noticed the restore. If the `seenAt` of the restored data is earlier, the restore
 *   lost commits.
 */
export async function recordRestore(
  sql: ISql,
  deploymentId: string,
  rememberedAt: Date | undefined,
): Promise<void> {
  const remembered = rememberedAt?.toISOString() ?? null;
  const restore = restoreColumns(sql, sql`d.seen_at`);
  await sql`
    update deployment d
    set (table_oid, timeline, seen_at, lossy_at, ${restore.names}) = row(
      ${deployments.currentTable(sql)}, ${deployments.currentTimeline(sql)},
      greatest(clock_timestamp(), d.seen_at, ${remembered}::timestamptz),
      case when d.seen_at < ${remembered}::timestamptz then ${restoredNow(sql)} else d.lossy_at end,
      ${restore.values}
    )
    where ${deployments.isOwnData(sql, deploymentId)}
    and (
      (d.table_oid, d.timeline) <> (${deployments.currentTable(sql)}, ${deployments.currentTimeline(sql)})
      or d.seen_at < ${remembered}::timestamptz
    )`;
}

/**
 * Records that the restore at `restoredAt` lost commits, unless another restore has been recorded
 * since.
 */
export async function recordLoss(sql: ISql, restoredAt: Date): Promise<void> {
  await sql`
    update deployment
    set lossy_at = restored_at
    where restored_at = ${restoredAt.toISOString()}::timestamptz
    and undo_for = restored_at`;
}

/** The operator does not say how old the backup is. */
export async function markRestored(sql: ISql): Promise<void> {
  const restore = restoreColumns(sql, sql`null::timestamptz`);
  await sql`
    update deployment d
    set (${restore.names}) = row(${restore.values})`;
}
