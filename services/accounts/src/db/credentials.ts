import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import type { AccountKey, AccountStatus } from "#src/db/accounts.ts";

/** The credential of an account as it is stored. */
export interface CredentialRow {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly accountStatus: AccountStatus;
  readonly externalId: string;
  readonly username: string;
  readonly version: number;
  /** Sealed. */
  readonly accessToken: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly expiresAt: Date | null;
  readonly canRefresh: boolean;
  /** Whether half of the access token's life is over. */
  readonly isHalfOver: boolean;
  /** Whether the access token has ended, or is about to. */
  readonly isOver: boolean;
}

/** Credentials of accounts, each found in the workspace named with it only; in no order. */
export async function listCredentials(
  sql: ISql,
  keys: readonly AccountKey[],
): Promise<readonly CredentialRow[]> {
  return await sql<CredentialRow[]>`
    select a.workspace_id, a.id as account_id, a.platform, a.status as account_status, a.external_id, a.username,
      c.version, c.access_token, c.attributes, c.expires_at,
      c.refresh_token is not null as can_refresh,
      coalesce(now() > c.issued_at + (c.expires_at - c.issued_at) / 2, false) as is_half_over,
      coalesce(now() > c.expires_at - interval '30 seconds', false) as is_over
    from (
      select distinct workspace_id, account_id
      from unnest(
        ${keys.map((key) => key.workspaceId)}::uuid[],
        ${keys.map((key) => key.accountId)}::uuid[]
      ) as ref (workspace_id, account_id)
    ) as ref
    join accounts a on a.id = ref.account_id and a.workspace_id = ref.workspace_id
    join credentials c on c.account_id = a.id`;
}

/** The keys with which the tokens of active accounts are sealed. */
export async function listSealingKeyIds(sql: ISql): Promise<readonly string[]> {
  const rows = await sql<{ keyId: string }[]>`
    select distinct split_part(sealed, '.', 2) as key_id
    from accounts a
    join credentials c on c.account_id = a.id
    cross join lateral (values (c.access_token), (c.refresh_token)) as token (sealed)
    where a.status = 'active'
    and sealed is not null`;
  return rows.map((row) => row.keyId);
}

/** A credential whose tokens are sealed already. */
export interface SealedCredential {
  readonly accountId: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly attributes: Readonly<Record<string, string>>;
  readonly lifetimeMs: number | null;
}

/**
 * Writes the credentials of accounts that were just connected; a refresh that is under way cannot write any more.
 * Returns when each access token ends, by account.
 */
export async function upsertCredentials(
  tx: TransactionSql,
  workspaceId: string,
  credentials: readonly SealedCredential[],
): Promise<ReadonlyMap<string, Date | null>> {
  const rows = credentials.map((credential) => ({
    account_id: credential.accountId,
    access_token: credential.accessToken,
    refresh_token: credential.refreshToken,
    attributes: credential.attributes,
    lifetime_ms: credential.lifetimeMs,
  }));
  const written = await tx<{ accountId: string; expiresAt: Date | null }[]>`
    insert into credentials (account_id, workspace_id, access_token, refresh_token, attributes, issued_at, expires_at)
    select account_id, ${workspaceId}, access_token, refresh_token, attributes,
      now(), now() + lifetime_ms * interval '1 millisecond'
    from jsonb_to_recordset(${tx.json(rows)}) as credential (
      account_id uuid, access_token text, refresh_token text, attributes jsonb, lifetime_ms float8
    )
    order by account_id
    on conflict (account_id) do update
    set access_token = excluded.access_token,
      refresh_token = excluded.refresh_token,
      attributes = excluded.attributes,
      issued_at = excluded.issued_at,
      expires_at = excluded.expires_at,
      version = credentials.version + 1,
      refresh_lease_until = null
    returning account_id, expires_at`;
  return new Map(written.map((row) => [row.accountId, row.expiresAt]));
}

/** What the one process that may ask the platform for new tokens starts from. */
export interface RefreshClaim {
  /** Sealed. */
  readonly refreshToken: string;
  readonly attributes: Readonly<Record<string, string>>;
  /** Database time before the platform was asked: new tokens are never taken to live longer than they do. */
  readonly claimedAt: Date;
}

/** Takes the row's lease for 30 s; undefined when somebody has it, or the version is not the current one any more. */
export async function claimRefresh(
  sql: Sql,
  key: AccountKey,
  version: number,
): Promise<RefreshClaim | undefined> {
  const [row] = await sql<RefreshClaim[]>`
    update credentials
    set refresh_lease_until = now() + interval '30 seconds'
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version = ${version}
    and refresh_token is not null
    and (refresh_lease_until is null or refresh_lease_until < now())
    returning refresh_token, attributes, now() as claimed_at`;
  return row;
}

/** Compare-and-set: false when the account was connected again or given up meanwhile, which always wins. */
export async function writeRefreshed(
  sql: Sql,
  key: AccountKey,
  version: number,
  renewed: SealedCredential & { readonly issuedAt: Date },
): Promise<boolean> {
  const rows = await sql`
    update credentials
    set access_token = ${renewed.accessToken},
      refresh_token = ${renewed.refreshToken},
      issued_at = ${renewed.issuedAt},
      expires_at = ${renewed.issuedAt}::timestamptz + ${renewed.lifetimeMs}::float8 * interval '1 millisecond',
      version = version + 1,
      refresh_lease_until = null
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version = ${version}
    returning version`;
  return rows.length > 0;
}

/** After a failure nobody asks the platform again for a few seconds. */
export async function shortenLease(sql: Sql, key: AccountKey, version: number): Promise<void> {
  await sql`
    update credentials
    set refresh_lease_until = now() + interval '5 seconds'
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version = ${version}`;
}

/** Raises the version if it is not above `version`, so that a refresh under way cannot write any more. */
export async function giveUpCredential(
  tx: TransactionSql,
  key: AccountKey,
  version: number,
): Promise<boolean> {
  const rows = await tx`
    update credentials
    set version = version + 1,
      refresh_lease_until = null
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version <= ${version}
    returning version`;
  return rows.length > 0;
}
