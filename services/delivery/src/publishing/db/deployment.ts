import { type Deployment, REPEATS_MINUTES } from "@postrider/shared/deployment/ownership";
import * as deployments from "@postrider/shared/deployment/table";
import type { ISql } from "@postrider/shared/postgres";
import type { DataCopy, RestoreRecord } from "#src/publishing/domain/restore.ts";

export interface DeploymentRow extends Deployment, DataCopy, RestoreRecord {
  /** Only decreases when the data is restored from a backup. */
  readonly seenAt: Date;
}

/** Several restores within it count as one, with the oldest of their backups. */
export const ONE_RESTORE_HOURS = 24;

/** The earliest time at which task `t` was due, over all generations of its target. */
export function firstDueAt(sql: ISql) {
  return sql`coalesce(t.first_due_at, t.due_at)`;
}

/**
 * A restore, here or of the installation that the task was imported from, made it uncertain whether
 * task `t` was published, and no search has followed; `deployment` is `d`. The time of the first
 * due date counts, because an earlier generation, or one that the restore lost, may have published
 * the target.
 */
export function isDoubtful(sql: ISql) {
  return sql`(t.is_doubtful or ${isDoubtfulSince(sql, sql`d.restored_at`)})`;
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

/** At most once in 30 s over all processes. */
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
 * The same value everywhere in a statement; later than any earlier restore, even if the clock is
 * behind; in whole milliseconds, so that a process that sends it back names the same restore.
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
 * Before a task that was due is sent, the platform is then searched for its post. Returns false if
 * the data belongs to this deployment already, also when another process was first.
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
 * Before a task that was due is sent, the platform is then searched for its post. Only one process
 * records a restore. `rememberedAt` is the latest `seenAt` that this process had read: if that of
 * the restored data is earlier, the restore lost commits.
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

/** Nothing changes if another restore has been recorded since. */
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
