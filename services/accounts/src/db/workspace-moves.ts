import { unavailable } from "@postrider/shared/errors";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { workspaceColumns, type WorkspaceRow, written } from "#src/db/workspaces.ts";

/** How long a client waits before it asks a frozen workspace again: a move takes minutes. */
const RETRY_MS = 30_000;

/**
 * Keeps the workspaces from being frozen until the transaction ends, so that the export of a frozen
 * workspace has everything that was stored before.
 *
 * @throws `unavailable` when one of them is frozen. A moved one stays frozen for ever, which
 *   matters to those who add to it, not to those who end something in it.
 */
export async function assertUnfrozen(
  tx: TransactionSql,
  workspaceIds: readonly string[],
  { mayBeMoved = false }: { readonly mayBeMoved?: boolean } = {},
): Promise<void> {
  const rows = await tx<{ isFrozen: boolean }[]>`
    select frozen_at is not null and (moved_at is null or not ${mayBeMoved}) as is_frozen
    from workspaces
    where id = any(${workspaceIds}::uuid[])
    order by id
    for share`;
  if (rows.some(({ isFrozen }) => isFrozen))
    throw unavailable(new Error("the workspace is being moved to another cell"), RETRY_MS);
}

export async function freezeWorkspaceById(
  tx: TransactionSql,
  id: string,
  { cell, handover }: { readonly cell: string; readonly handover: Uint8Array },
): Promise<WorkspaceRow> {
  const [row] = await tx<WorkspaceRow[]>`
    update workspaces
    set moves_to = ${cell},
      handover = ${handover},
      frozen_at = now()
    where id = ${id}
    returning ${workspaceColumns(tx)}`;
  return written(row);
}

export async function unfreezeWorkspaceById(tx: TransactionSql, id: string): Promise<WorkspaceRow> {
  const [row] = await tx<WorkspaceRow[]>`
    update workspaces
    set moves_to = null,
      handover = null,
      frozen_at = null
    where id = ${id}
    and moved_at is null
    returning ${workspaceColumns(tx)}`;
  return written(row);
}

/**
 * SQL: two parts of a `with` that delete the tokens of the workspace and disconnect its accounts.
 */
function withoutTokens(sql: ISql, workspaceId: string) {
  return sql`
    credential as (
      update credentials
      set access_token = null,
        refresh_token = null,
        attributes = '{}',
        expires_at = null,
        renew_at = null,
        version = version + 1
      where workspace_id = ${workspaceId}
    ),
    account as (
      update accounts
      set status = 'disconnected'
      where workspace_id = ${workspaceId}
    )`;
}

/** The tokens of an import that a move has left are the old cell's, which goes on using them. */
export async function forgetImportedTokens(sql: ISql, workspaceId: string): Promise<void> {
  const [row] = await sql`
    select
    from workspace_imports
    where workspace_id = ${workspaceId}
    and handover_hash is not null`;
  if (row !== undefined) await sql`with ${withoutTokens(sql, workspaceId)} select`;
}

/**
 * Gives the workspace to the other cell and returns the handover secret. The tokens are the other
 * cell's from now on: this one neither uses them nor asks a platform to revoke them when the
 * workspace is removed.
 */
export async function switchWorkspaceById(tx: TransactionSql, id: string): Promise<Buffer> {
  const [row] = await tx<{ handover: Buffer }[]>`
    with switched as (
      update workspaces
      set moved_at = coalesce(moved_at, now())
      where id = ${id}
      returning handover
    ),
    ${withoutTokens(tx, id)}
    select handover from switched`;
  if (row === undefined) throw new Error("a workspace must be switched after lockWorkspace");
  return row.handover;
}

/**
 * How long after its end a refresh lease is waited for that no process has ended. By then its
 * process has died: one that has new tokens stores them within seconds after the database answers.
 */
const LOST_REFRESH_MINUTES = 10;

/**
 * Token refreshes that have begun: the platform may answer, or has answered, with tokens that are
 * not stored yet. The stored refresh token may be used up, so it is not copied.
 */
export async function countRefreshes(sql: ISql, workspaceId: string): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count
    from accounts a
    join credentials c on c.account_id = a.id
    where a.workspace_id = ${workspaceId}
    and c.refresh_lease_token is not null
    and c.refresh_lease_until > now() - ${LOST_REFRESH_MINUTES} * interval '1 minute'`;
  return row.count;
}

/** Whether the workspace is frozen and not yet the other cell's. */
export async function isFrozen(sql: ISql, workspaceId: string): Promise<boolean> {
  const rows = await sql`
    select
    from workspaces
    where id = ${workspaceId}
    and frozen_at is not null
    and moved_at is null`;
  return rows.length > 0;
}
