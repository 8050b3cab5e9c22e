import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";

export interface ServiceRemovalRow {
  readonly service: string;
  readonly rows: number;
  readonly isDone: boolean;
}

export interface WorkspaceRemovalRow {
  readonly workspaceId: string;
  /** Null for a workspace that is only moved. */
  readonly removesAt: Date | null;
  readonly isRemoving: boolean;
  readonly isMoving: boolean;
  readonly isMoved: boolean;
  /** Empty before the removal has begun. */
  readonly accountIds: readonly string[];
  readonly services: readonly ServiceRemovalRow[];
}

/** The services that remove their rows before accounts removes its own. */
export const REMOVING_SERVICES = ["posts", "media", "delivery"] as const;

/**
 * Begins the removals that are due. The row is locked for that, as it is by a person who cancels
 * the deletion at the same moment: one of them is first, and the other sees it.
 */
export async function beginRemovals(sql: Sql): Promise<void> {
  await sql`
    update workspaces
    set removal_began_at = now()
    where removes_at <= now()
    and removal_began_at is null`;
}

export async function listRemovals(sql: ISql): Promise<readonly WorkspaceRemovalRow[]> {
  return await sql<WorkspaceRemovalRow[]>`
    select id as workspace_id, removes_at, removal_began_at is not null as is_removing,
      frozen_at is not null as is_moving, moved_at is not null as is_moved,
      case
        when removal_began_at is not null then array(select a.id from accounts a where a.workspace_id = w.id)
        else '{}'
      end as account_ids,
      coalesce((
        select jsonb_agg(
          jsonb_build_object('service', r.service, 'rows', r.removed_rows, 'isDone', r.done_at is not null)
          order by r.service
        )
        from workspace_removals r
        where r.workspace_id = w.id
      ), '[]') as services
    from workspaces w
    where removes_at is not null
    or frozen_at is not null`;
}

/** Changes nothing for a workspace that is not being removed. */
export async function addRemoval(
  sql: Sql,
  workspaceId: string,
  { service, rows, isDone }: ServiceRemovalRow,
): Promise<void> {
  await sql`
    insert into workspace_removals as r (workspace_id, service, removed_rows, done_at)
    select id, ${service}, ${rows}, case when ${isDone}::boolean then now() end
    from workspaces
    where id = ${workspaceId}
    and removal_began_at is not null
    on conflict (workspace_id, service) do update
    set removed_rows = r.removed_rows + excluded.removed_rows,
      done_at = coalesce(r.done_at, excluded.done_at)`;
}

/** The workspace's dashboard sessions, and the API keys that could use this workspace only. */
export async function deleteKeysOf(sql: Sql, workspaceId: string): Promise<number> {
  await sql`delete from dashboard_sessions where workspace_id = ${workspaceId}`;
  const { count } = await sql`
    with members as (
      delete from api_key_workspaces
      where workspace_id = ${workspaceId}
      returning api_key_id
    )
    delete from api_keys k
    where k.id in (select api_key_id from members)
    and not exists (
      select 1
      from api_key_workspaces other
      where other.api_key_id = k.id
      and other.workspace_id <> ${workspaceId}
    )`;
  return count;
}

export interface ConnectedRow {
  readonly accountId: string;
}

export async function listConnected(
  sql: Sql,
  workspaceId: string,
  limit: number,
): Promise<readonly ConnectedRow[]> {
  return await sql<ConnectedRow[]>`
    select id as account_id
    from accounts
    where workspace_id = ${workspaceId}
    and status <> 'disconnected'
    order by id
    limit ${limit}`;
}

/** False if another process has deleted it. */
export async function deleteWorkspace(tx: TransactionSql, workspaceId: string): Promise<boolean> {
  await tx`delete from workspace_removals where workspace_id = ${workspaceId}`;
  const { count } = await tx`delete from workspaces where id = ${workspaceId}`;
  return count > 0;
}
