import type { ISql, TransactionSql } from "@postrider/shared/postgres";

export interface WorkspaceRow {
  readonly id: string;
  readonly name: string;
  readonly verified: boolean;
  readonly requestsPerMinute: number | null;
  readonly monthlyQuota: number | null;
  readonly dailyQuota: number | null;
  /** Null unless the deletion of the workspace was requested. */
  readonly deletionRequestedAt: Date | null;
  readonly removesAt: Date | null;
  readonly removalBeganAt: Date | null;
  /** The cell that the workspace goes to; null unless it is being moved or was moved. */
  readonly movesTo: string | null;
  readonly frozenAt: Date | null;
  readonly movedAt: Date | null;
  readonly handoverHash: Buffer | null;
  readonly isImporting: boolean;
  readonly createdAt: Date;
}

/**
 * SQL condition on the row `of` of the table `workspaces`: its import has not ended, and was not
 * given up.
 */
export function isImporting(sql: ISql, of = sql`workspaces`) {
  return sql`
    coalesce(
      ${of}.removes_at is not null
        and ${of}.removal_began_at is null
        and exists (select from workspace_imports i where i.workspace_id = ${of}.id and not i.is_cancelled),
      false
    )`;
}

export function workspaceColumns(sql: ISql) {
  return sql`
    id, name, verified, requests_per_minute, monthly_quota, daily_quota, deletion_requested_at, removes_at,
    removal_began_at, moves_to, frozen_at, moved_at, sha256(handover || convert_to(moves_to, 'UTF8')) as handover_hash,
    ${isImporting(sql)} as is_importing, created_at`;
}

export interface LimitChanges {
  readonly requestsPerMinute?: number | undefined;
  readonly monthlyQuota?: number | undefined;
  readonly dailyQuota?: number | undefined;
}

export async function insertWorkspace(
  sql: ISql,
  workspace: Pick<WorkspaceRow, "id" | "name" | "verified">,
): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    insert into workspaces (id, name, verified)
    values (${workspace.id}, ${workspace.name}, ${workspace.verified})
    returning ${workspaceColumns(sql)}`;
  return row;
}

export async function lockWorkspace(
  tx: TransactionSql,
  id: string,
): Promise<WorkspaceRow | undefined> {
  const [row] = await tx<WorkspaceRow[]>`
    select ${workspaceColumns(tx)}
    from workspaces
    where id = ${id}
    for no key update`;
  return row;
}

export async function listAllWorkspaces(sql: ISql): Promise<readonly WorkspaceRow[]> {
  return await sql<WorkspaceRow[]>`
    select ${workspaceColumns(sql)}
    from workspaces
    order by id desc`;
}

export async function listWorkspacesByIds(
  sql: ISql,
  ids: readonly string[],
): Promise<readonly WorkspaceRow[]> {
  return await sql<WorkspaceRow[]>`
    select ${workspaceColumns(sql)}
    from workspaces
    where id = any(${ids}::uuid[])`;
}

/**
 * Counts those that exist and whose deletion was not requested. One that is being imported counts,
 * so that its accounts are connected and its keys are made before anything is sent.
 */
export async function countWorkspaces(sql: ISql, ids: readonly string[]): Promise<number> {
  const [row] = await sql<{ count: number }[]>`
    select count(*)::int as count
    from workspaces
    where id = any(${ids}::uuid[])
    and (removes_at is null or ${isImporting(sql)})`;
  return row?.count ?? 0;
}

/** About those that publish or will: not deleted, not moved to another cell. */
export async function describeInstallation(
  sql: ISql,
): Promise<{ readonly isOfSeveral: boolean; readonly highestDailyQuota: number | null }> {
  const isLiving = sql`(removes_at is null or ${isImporting(sql)}) and moved_at is null`;
  const [row] = await sql<[{ isOfSeveral: boolean; highestDailyQuota: number | null }]>`
    select
      (
        select count(*) > 1
        from (select from workspaces where ${isLiving} limit 2) as few
      ) as is_of_several,
      (
        select daily_quota
        from workspaces
        where daily_quota is not null
        and ${isLiving}
        order by daily_quota desc
        limit 1
      ) as highest_daily_quota`;
  return row;
}

export function written(row: WorkspaceRow | undefined): WorkspaceRow {
  if (row === undefined)
    throw new Error("a workspace must be changed after lockWorkspace in the same transaction");
  return row;
}

export async function verifyWorkspaceById(tx: TransactionSql, id: string): Promise<WorkspaceRow> {
  const [row] = await tx<WorkspaceRow[]>`
    update workspaces
    set verified = true
    where id = ${id}
    returning ${workspaceColumns(tx)}`;
  return written(row);
}

export async function setWorkspaceLimitsById(
  tx: TransactionSql,
  id: string,
  changes: LimitChanges,
): Promise<WorkspaceRow> {
  const [row] = await tx<WorkspaceRow[]>`
    update workspaces
    set requests_per_minute = coalesce(${changes.requestsPerMinute ?? null}::int, requests_per_minute),
      monthly_quota = coalesce(${changes.monthlyQuota ?? null}::int, monthly_quota),
      daily_quota = coalesce(${changes.dailyQuota ?? null}::int, daily_quota)
    where id = ${id}
    returning ${workspaceColumns(tx)}`;
  return written(row);
}

/** Sets both times; the time of an earlier request stays. */
export async function setRemovesAt(
  tx: TransactionSql,
  id: string,
  { graceMs, settleMs }: { readonly graceMs: number; readonly settleMs: number },
): Promise<WorkspaceRow> {
  // What was accepted before the keys stopped ends before the removal begins.
  const [row] = await tx<WorkspaceRow[]>`
    update workspaces
    set removes_at = greatest(
        now() + ${graceMs}::float8 * interval '1 millisecond',
        coalesce(deletion_requested_at, now()) + ${settleMs}::float8 * interval '1 millisecond'
      ),
      deletion_requested_at = coalesce(deletion_requested_at, now())
    where id = ${id}
    returning ${workspaceColumns(tx)}`;
  return written(row);
}

export async function clearRemovesAt(tx: TransactionSql, id: string): Promise<WorkspaceRow> {
  const [row] = await tx<WorkspaceRow[]>`
    update workspaces
    set removes_at = null,
      deletion_requested_at = null
    where id = ${id}
    returning ${workspaceColumns(tx)}`;
  return written(row);
}
