import type { ISql } from "@postrider/shared/postgres";

/** Who carries out the import of a key. */
export interface ImportClaim {
  readonly workspaceId: string;
  readonly key: string;
  /** New for each claim. */
  readonly token: string;
}

/**
 * Takes the import of a key unless somebody else has it. Of two at once the unique index lets one win; a claim whose lease
 * has ended is free. The database's clock says until when.
 */
export async function claimImport(
  sql: ISql,
  { workspaceId, key, token }: ImportClaim,
  leaseMs: number,
): Promise<boolean> {
  const claimed = await sql`
    insert into import_claims (workspace_id, key, token, lease_until)
    values (${workspaceId}, ${key}, ${token}, now() + ${leaseMs} * interval '1 millisecond')
    on conflict (workspace_id, key) do update
    set token = excluded.token,
      lease_until = excluded.lease_until
    where import_claims.lease_until < now()
    returning 1`;
  return claimed.length > 0;
}

export async function renewImportClaim(
  sql: ISql,
  { workspaceId, key, token }: ImportClaim,
  leaseMs: number,
): Promise<void> {
  await sql`
    update import_claims
    set lease_until = now() + ${leaseMs} * interval '1 millisecond'
    where workspace_id = ${workspaceId}
    and key = ${key}
    and token = ${token}`;
}

/** Lets others begin at once. */
export async function releaseImportClaim(
  sql: ISql,
  { workspaceId, key, token }: ImportClaim,
): Promise<void> {
  await sql`
    delete from import_claims
    where workspace_id = ${workspaceId}
    and key = ${key}
    and token = ${token}`;
}

/** Deletes up to `limit` claims of all workspaces that processes left when they died, and returns how many. */
export async function deleteDeadImportClaims(sql: ISql, limit: number): Promise<number> {
  const deleted = await sql`
    delete from import_claims
    where (workspace_id, key) in (
      select workspace_id, key
      from import_claims
      where lease_until < now() - interval '1 minute'
      order by lease_until
      limit ${limit}
      for update skip locked
    )`;
  return deleted.count;
}
