import type { ISql } from "@postrider/shared/postgres";

export interface PauseRow {
  /** `deletion`: of a workspace whose deletion was requested; it ends with the request. */
  readonly kind: "platform" | "account" | "workspace" | "deletion";
  readonly key: string;
  readonly reason: string | null;
  readonly createdAt: Date;
}

/**
 * A pause with the same scope stays; a given reason replaces its reason. Returns the pause in
 * force, and whether it is new.
 */
export async function insertPause(
  sql: ISql,
  kind: PauseRow["kind"],
  key: string,
  reason?: string,
): Promise<PauseRow & { readonly isNew: boolean }> {
  // Without the update, the insert would not return the row of a pause that exists already. A row
  // that was inserted, not updated, has no `xmax`.
  const [row] = await sql<(PauseRow & { isNew: boolean })[]>`
    insert into pauses (kind, key, reason)
    values (${kind}, ${key}, ${reason ?? null})
    on conflict (kind, key) do update
    set reason = coalesce(excluded.reason, pauses.reason)
    returning kind, key, reason, created_at, xmax = 0 as is_new`;
  if (row === undefined) throw new Error("the pause was not written");
  return row;
}

export async function deletePause(
  sql: ISql,
  kind: PauseRow["kind"],
  key: string,
): Promise<boolean> {
  const result = await sql`
    delete from pauses
    where kind = ${kind}
    and key = ${key}`;
  return result.count > 0;
}

/** Undefined for an account that has not published, because delivery does not know it. */
export async function findWorkspaceOfAccount(
  sql: ISql,
  accountId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ workspaceId: string }[]>`
    select workspace_id
    from account_queues
    where account_id = ${accountId}`;
  return row?.workspaceId;
}

export async function listPauses(sql: ISql): Promise<readonly PauseRow[]> {
  return await sql<PauseRow[]>`
    select kind, key, reason, created_at
    from pauses
    order by created_at desc, kind, key`;
}
