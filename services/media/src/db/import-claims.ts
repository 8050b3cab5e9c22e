import type { ISql } from "@postrider/shared/postgres";

/** The exclusive right of one request to carry out the import of its idempotency key. */
export interface ImportClaim {
  readonly workspaceId: string;
  readonly key: string;
  /**
   * Random, so that a request that lost its claim cannot renew or release that of another request.
   */
  readonly token: string;
}

/**
 * Returns false when another request holds the claim. An expired claim is replaced; the unique
 * index lets only one of two concurrent requests win. Claims expire by the database's clock.
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

/** Another request can then claim the idempotency key at once. */
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

export async function deleteExpiredImportClaims(sql: ISql, limit: number): Promise<number> {
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
