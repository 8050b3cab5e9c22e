import type { ISql } from "@postrider/shared/postgres";

export interface PauseRow {
  /** `deletion`: of a workspace whose deletion was requested; it ends with the request. */
  readonly kind: "platform" | "account" | "workspace" | "deletion";
  readonly key: string;
  readonly createdAt: Date;
}

/** A pause with the same scope stays. Returns the pause in force, and whether it is new. */
export async function insertPause(
  sql: ISql,
  kind: PauseRow["kind"],
  key: string,
): Promise<PauseRow & { readonly isNew: boolean }> {
  // The update sets a column to its own value. Without it, the insert would not return the row of a
  // pause that exists already. A row that was inserted, not updated, has no `xmax`.
  const [row] = await sql<(PauseRow & { isNew: boolean })[]>`
    insert into pauses (kind, key)
    values (${kind}, ${key})
    on conflict (kind, key) do update
    set created_at = pauses.created_at
    returning kind, key, created_at, xmax = 0 as is_new`;
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
    select kind, key, created_at
    from pauses
    order by created_at desc, kind, key`;
}
