import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { accountRefs, type AccountKey, type AccountStatus } from "#src/db/accounts.ts";

export interface CredentialRow {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly accountStatus: AccountStatus;
  readonly externalId: string;
  readonly username: string;
  readonly version: number;
  /** The access token, encrypted for storage; null when the account was disconnected. */
  readonly accessToken: string | null;
  readonly attributes: Readonly<Record<string, string>>;
  readonly expiresAt: Date | null;
  readonly canRefresh: boolean;
  readonly isPastHalfLife: boolean;
  /** Whether the access token has expired, or expires within 30 seconds. */
  readonly isExpired: boolean;
}

/**
 * Reads the credentials of accounts by the accounts' keys, in no particular order. A credential is
 * missing if its account belongs to another workspace than the key says.
 */
export async function listCredentials(
  sql: ISql,
  keys: readonly AccountKey[],
): Promise<readonly CredentialRow[]> {
  return await sql<CredentialRow[]>`
    select a.workspace_id, a.id as account_id, a.platform, a.status as account_status, a.external_id, a.username,
      c.version, c.access_token, c.attributes, c.expires_at,
      c.refresh_token is not null as can_refresh,
      coalesce(now() > c.issued_at + (c.expires_at - c.issued_at) / 2, false) as is_past_half_life,
      coalesce(now() > c.expires_at - interval '30 seconds', false) as is_expired
    from (${accountRefs(sql, keys)}) as ref
    join accounts a on a.id = ref.account_id and a.workspace_id = ref.workspace_id
    join credentials c on c.account_id = a.id`;
}

/**
 * SQL assignments that keep a token refresh in progress from storing its tokens, because the
 * credential changes. Their place is at the end of `set`.
 */
export function endRefresh(sql: ISql) {
  return sql`
      version = credentials.version + 1,
      refresh_lease_until = null,
      refresh_lease_token = null`;
}

/** SQL: the end of an insert whose credential takes the place of one that is there. */
export function replaceCredential(sql: ISql) {
  return sql`
    on conflict (account_id) do update
    set access_token = excluded.access_token,
      refresh_token = excluded.refresh_token,
      attributes = excluded.attributes,
      issued_at = excluded.issued_at,
      expires_at = excluded.expires_at,
      renew_at = excluded.renew_at,
      given_up_version = null,
      ${endRefresh(sql)}`;
}

export interface SealedCredential {
  readonly accountId: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
  readonly attributes: Readonly<Record<string, string>>;
  readonly lifetimeMs: number | null;
  /** After this time without use a job refreshes it; null if its refresh token does not expire. */
  readonly refreshAfterMs: number | null;
}

/**
 * Writes the credentials of accounts that were just connected. Raises the version of each
 * credential, so that a token refresh in progress cannot overwrite the new tokens.
 *
 * @returns When each access token expires, by account id.
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
    refresh_after_ms: credential.refreshAfterMs,
  }));
  const written = await tx<{ accountId: string; expiresAt: Date | null }[]>`
    insert into credentials (account_id, workspace_id, access_token, refresh_token, attributes, issued_at, expires_at,
      renew_at)
    select account_id, ${workspaceId}, access_token, refresh_token, attributes,
      now(), now() + lifetime_ms * interval '1 millisecond', now() + refresh_after_ms * interval '1 millisecond'
    from jsonb_to_recordset(${tx.json(rows)}) as credential (
      account_id uuid, access_token text, refresh_token text, attributes jsonb, lifetime_ms float8,
      refresh_after_ms float8
    )
    order by account_id
    ${replaceCredential(tx)}
    returning account_id, expires_at`;
  return new Map(written.map((row) => [row.accountId, row.expiresAt]));
}

/**
 * Raises the version of a credential, so that a token refresh in progress cannot store its tokens.
 * Returns false, and changes nothing, when the credential has a newer version than `version`.
 */
export async function invalidateCredential(
  tx: TransactionSql,
  key: AccountKey,
  version: number,
): Promise<boolean> {
  const rows = await tx`
    update credentials
    set renew_at = null,
      given_up_version = null,
      ${endRefresh(tx)}
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version <= ${version}
    returning version`;
  return rows.length > 0;
}

/** The encrypted tokens of an account, and the data of the platform that they are bound to. */
export interface HeldTokens {
  readonly accessToken: string | null;
  readonly refreshToken: string | null;
  readonly attributes: Readonly<Record<string, string>>;
}

/**
 * Deletes the tokens of an account that `lockAccount` found in the same transaction, and returns
 * the tokens. The row of the credential stays and its version rises, so that a refresh in progress
 * cannot overwrite the tokens of a later connection. The accounts of an unfinished import have no
 * credential yet.
 */
export async function deleteTokens(tx: TransactionSql, key: AccountKey): Promise<HeldTokens> {
  const [row] = await tx<HeldTokens[]>`
    with held as (
      select account_id, access_token, refresh_token, attributes
      from credentials
      where workspace_id = ${key.workspaceId}
      and account_id = ${key.accountId}
      for update
    )
    update credentials
    set access_token = null,
      refresh_token = null,
      attributes = '{}',
      expires_at = null,
      renew_at = null,
      given_up_version = null,
      ${endRefresh(tx)}
    from held
    where credentials.account_id = held.account_id
    returning held.access_token, held.refresh_token, held.attributes`;
  return row ?? { accessToken: null, refreshToken: null, attributes: {} };
}
