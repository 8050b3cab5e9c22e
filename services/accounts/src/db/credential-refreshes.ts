import { isOwnData } from "@postrider/shared/deployment/table";
import type { Sql } from "@postrider/shared/postgres";
import type { AccountKey } from "#src/db/accounts.ts";
import type { CredentialRow, SealedCredential } from "#src/db/credentials.ts";

/** What a process needs to refresh a credential after it has taken the credential's refresh lease. */
export interface RefreshClaim {
  /** The refresh token, encrypted (sealed) for storage. */
  readonly refreshToken: string;
  readonly attributes: Readonly<Record<string, string>>;
  /**
   * The database's time before the platform is called. The lifetimes of the new tokens are counted from this time, so
   * the accounts service never takes an expired token for valid.
   */
  readonly claimedAt: Date;
}

/**
 * Takes the refresh lease of a credential for 30 s. Returns undefined when another process holds the lease, or when the
 * given version of the credential is outdated. Also returns undefined when the data is a copy of another deployment:
 * the refresh tokens then belong to the original deployment, and most refresh tokens work only once.
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
    and exists (select 1 from deployment d where ${isOwnData(sql, deploymentId)})
    returning refresh_token, attributes, now() as claimed_at`;
  return row;
}

/**
 * Writes refreshed tokens if the credential still has the version that the refresh claimed. Returns false when the
 * account was connected again, disconnected or marked for a reconnect in the meantime: such a change takes precedence
 * over the refresh.
 */
export async function writeRefreshedTokens(
  sql: Sql,
  key: AccountKey,
  version: number,
  refreshed: SealedCredential & { readonly issuedAt: Date },
): Promise<boolean> {
  const rows = await sql`
    update credentials
    set access_token = ${refreshed.accessToken},
      refresh_token = ${refreshed.refreshToken},
      issued_at = ${refreshed.issuedAt},
      expires_at = ${refreshed.issuedAt}::timestamptz + ${refreshed.lifetimeMs}::float8 * interval '1 millisecond',
      renew_at = ${refreshed.issuedAt}::timestamptz + ${refreshed.refreshAfterMs}::float8 * interval '1 millisecond',
      version = version + 1,
      refresh_lease_until = null
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version = ${version}
    returning version`;
  return rows.length > 0;
}

/**
 * Ends the refresh lease of a credential 5 seconds after a failed refresh, so that the platform is not called again at
 * once.
 */
export async function shortenRefreshLease(
  sql: Sql,
  key: AccountKey,
  version: number,
): Promise<void> {
  await sql`
    update credentials
    set refresh_lease_until = now() + interval '5 seconds'
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and version = ${version}`;
}

/** A credential that no post has used for a long time and whose refresh token would expire without a refresh. */
type IdleCredential = Pick<CredentialRow, "workspaceId" | "accountId" | "platform" | "version">;

/**
 * Claims idle credentials that are due for a refresh. Each claimed credential can be claimed again after an hour, in
 * case its refresh fails.
 */
export async function claimIdleCredentials(
  sql: Sql,
  { limit, deploymentId }: { readonly limit: number; readonly deploymentId: string },
): Promise<readonly IdleCredential[]> {
  // `skip locked` gives each replica different credentials. The refresh lease also prevents two token requests for one
  // credential at the same time.
  return await sql<IdleCredential[]>`
    with due as (
      select account_id
      from credentials
      where renew_at <= now()
      and exists (select 1 from deployment d where ${isOwnData(sql, deploymentId)})
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
