import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import type { AccountKey, AccountStatus } from "#src/db/accounts.ts";
import { dataAtHome } from "#src/db/deployment.ts";

/** The credential of an account as it is stored. */
export interface CredentialRow {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly accountStatus: AccountStatus;
  readonly externalId: string;
  readonly username: string;
  readonly version: number;
  /** Sealed; null when the account was disconnected. */
  readonly accessToken: string | null;
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

/** A credential whose tokens are sealed already. */
export interface SealedCredential {
  readonly accountId: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly attributes: Readonly<Record<string, string>>;
  readonly lifetimeMs: number | null;
  /** After so long the tokens are renewed though nobody uses them; null = they do not lapse. */
  readonly renewAfterMs: number | null;
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
    renew_after_ms: credential.renewAfterMs,
  }));
  const written = await tx<{ accountId: string; expiresAt: Date | null }[]>`
    insert into credentials (account_id, workspace_id, access_token, refresh_token, attributes, issued_at, expires_at,
      renew_at)
    select account_id, ${workspaceId}, access_token, refresh_token, attributes,
      now(), now() + lifetime_ms * interval '1 millisecond', now() + renew_after_ms * interval '1 millisecond'
    from jsonb_to_recordset(${tx.json(rows)}) as credential (
      account_id uuid, access_token text, refresh_token text, attributes jsonb, lifetime_ms float8,
      renew_after_ms float8
    )
    order by account_id
    on conflict (account_id) do update
    set access_token = excluded.access_token,
      refresh_token = excluded.refresh_token,
      attributes = excluded.attributes,
      issued_at = excluded.issued_at,
      expires_at = excluded.expires_at,
      renew_at = excluded.renew_at,
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

/**
 * Takes the row's lease for 30 s; undefined when somebody has it, the version is not the current one any more, or the data
 * is a copy: its refresh token is the original's, and may work only once.
 */
export async function claimRefresh(
  sql: Sql,
  key: AccountKey,
  { version, deploymentId }: { readonly version: number; readonly deploymentId: string },
): Promise<RefreshClaim | undefined> {
  const [row] = await sql<RefreshClaim[]>`
    update credentials
    set refresh_lease_until = now() + interval '30 seconds'
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version = ${version}
    and refresh_token is not null
    and (refresh_lease_until is null or refresh_lease_until < now())
    and exists (${dataAtHome(sql, deploymentId)})
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
      renew_at = ${renewed.issuedAt}::timestamptz + ${renewed.renewAfterMs}::float8 * interval '1 millisecond',
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
      renew_at = null,
      refresh_lease_until = null
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version <= ${version}
    returning version`;
  return rows.length > 0;
}

/** What is to be revoked once nobody can use it here any more; sealed. */
export interface DestroyedTokens {
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Takes the tokens out of the row for good and returns them. The row and its version stay, so that a refresh that is
 * under way cannot write over tokens of a later connection.
 */
export async function destroyTokens(
  tx: TransactionSql,
  key: AccountKey,
): Promise<DestroyedTokens | undefined> {
  const [row] = await tx<DestroyedTokens[]>`
    with held as (
      select account_id, access_token, refresh_token, attributes
      from credentials
      where workspace_id = ${key.workspaceId}
      and account_id = ${key.accountId}
      for update
    )
    update credentials c
    set access_token = null,
      refresh_token = null,
      attributes = '{}',
      expires_at = null,
      renew_at = null,
      refresh_lease_until = null,
      version = c.version + 1
    from held
    where c.account_id = held.account_id
    returning held.access_token, held.refresh_token, held.attributes`;
  return row;
}

/** A credential that lapses for good if nobody renews it. */
export type LapsingCredential = Pick<
  CredentialRow,
  "workspaceId" | "accountId" | "platform" | "version"
>;

/** Takes credentials whose renewal is due, and puts each off by an hour in case that it fails; none of a copy. */
export async function claimLapsing(
  sql: Sql,
  { limit, deploymentId }: { readonly limit: number; readonly deploymentId: string },
): Promise<readonly LapsingCredential[]> {
  // `skip locked` gives several replicas different rows; the refresh's own lease keeps the calls single all the same.
  return await sql<LapsingCredential[]>`
    with due as (
      select account_id
      from credentials
      where renew_at <= now()
      and exists (${dataAtHome(sql, deploymentId)})
      order by renew_at
      limit ${limit}
      for update skip locked
    )
    update credentials c
    set renew_at = now() + interval '1 hour'
    from due, accounts a
    where c.account_id = due.account_id
    and a.id = due.account_id
    and a.status = 'active'
    returning c.workspace_id, c.account_id, a.platform, c.version`;
}
