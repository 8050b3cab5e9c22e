import { isOwnData } from "@postrider/shared/deployment/table";
import { newId } from "@postrider/shared/ids";
import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";
import type { AccountKey } from "#src/db/accounts.ts";
import { type CredentialRow, endRefresh, type SealedCredential } from "#src/db/credentials.ts";

export interface RefreshClaim extends AccountKey {
  readonly platform: string;
  readonly externalId: string;
  /**
   * Identifies the refresh lease. Only the process that holds the lease may end it or give up the
   * credential.
   */
  readonly leaseToken: string;
  /**
   * Whether the process that held the lease before did not end it. That process may have received
   * new tokens that it has not stored yet, and then the platform refuses the stored refresh token.
   */
  readonly isTakenOver: boolean;
  readonly refreshToken: string;
  readonly attributes: Readonly<Record<string, string>>;
  /**
   * The database's time before the platform is called. The lifetimes of the new tokens are counted
   * from this time, so the accounts service never takes an expired token for valid.
   */
  readonly claimedAt: Date;
}

/**
 * Takes the refresh lease of a credential for 30 s. Returns undefined when another process holds
 * the lease, when the given version of the credential is outdated, or when the workspace is frozen
 * for a move or arrives with one. Also returns undefined when the data is a copy of another
 * deployment: the refresh tokens then belong to the original deployment, and most refresh tokens
 * work only once.
 */
export async function claimRefresh(
  sql: Sql,
  key: AccountKey,
  { version, deploymentId }: { readonly version: number; readonly deploymentId: string },
): Promise<RefreshClaim | undefined> {
  // The credential's row is locked before it is changed, because only the unchanged row says
  // whether the previous refresh lease was ended. Of two concurrent claims, the second reads the
  // lease of the first.
  const [row] = await sql<RefreshClaim[]>`
    with held as (
      select account_id, refresh_lease_token is not null as is_taken_over
      from credentials
      where workspace_id = ${key.workspaceId}
      and account_id = ${key.accountId}
      and version = ${version}
      and refresh_token is not null
      and (refresh_lease_until is null or refresh_lease_until < now())
      -- Until the switch the old cell keeps these tokens, then the new one has them.
      and not exists (select from workspaces w where w.id = ${key.workspaceId} and w.frozen_at is not null)
      and not exists (
        select from workspace_imports i where i.workspace_id = ${key.workspaceId} and i.handover_hash is not null
      )
      and exists (select 1 from deployment d where ${isOwnData(sql, deploymentId)})
      for update
    )
    update credentials c
    set refresh_lease_until = now() + interval '30 seconds',
      refresh_lease_token = ${newId()}
    from held
    join accounts a on a.id = held.account_id
    where c.account_id = held.account_id
    and a.workspace_id = ${key.workspaceId}
    returning c.refresh_lease_token as lease_token, held.is_taken_over, c.refresh_token, c.attributes,
      a.workspace_id, a.id as account_id, a.platform, a.external_id, now() as claimed_at`;
  return row;
}

/**
 * Writes refreshed tokens if the credential still has the version for which the refresh lease was
 * taken. Returns false when the account was connected again, disconnected or marked for a reconnect
 * in the meantime.
 *
 * @param options.isGivenUp Writes the tokens only if the account needs a reconnect because the
 *   platform refused the same refresh token to another process. The caller must make the account
 *   active in the same transaction.
 */
export async function writeRefreshedTokens(
  sql: ISql,
  key: AccountKey,
  refreshed: SealedCredential & { readonly issuedAt: Date },
  { version, isGivenUp }: { readonly version: number; readonly isGivenUp: boolean },
): Promise<boolean> {
  const rows = await sql`
    update credentials
    set access_token = ${refreshed.accessToken},
      refresh_token = ${refreshed.refreshToken},
      issued_at = ${refreshed.issuedAt},
      expires_at = ${refreshed.issuedAt}::timestamptz + ${refreshed.lifetimeMs}::float8 * interval '1 millisecond',
      renew_at = ${refreshed.issuedAt}::timestamptz + ${refreshed.refreshAfterMs}::float8 * interval '1 millisecond',
      given_up_version = null,
      ${endRefresh(sql)}
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    ${
      isGivenUp
        ? sql`and version = ${version + 1} and given_up_version = ${version}`
        : sql`and version = ${version}`
    }
    returning version`;
  return rows.length > 0;
}

type Lease = Pick<RefreshClaim, "leaseToken">;

/**
 * Lets no process claim the refresh lease of a credential for some seconds. Changes nothing when
 * another process has taken the lease over.
 *
 * @param pause.isEnded Whether the lease ends; otherwise the next claim takes it over.
 */
export async function pauseRefresh(
  sql: Sql,
  key: AccountKey,
  { leaseToken }: Lease,
  pause: { readonly seconds: number; readonly isEnded: boolean },
): Promise<void> {
  await sql`
    update credentials
    set refresh_lease_until = now() + ${pause.seconds}::int * interval '1 second',
      refresh_lease_token = ${pause.isEnded ? null : leaseToken}
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and refresh_lease_token = ${leaseToken}`;
}

/**
 * Raises the version of a credential whose refresh token the platform refused to the holder of the
 * refresh lease. Returns false, and changes nothing, when another process has taken the lease over.
 */
export async function giveUpCredential(
  tx: TransactionSql,
  key: AccountKey,
  { leaseToken }: Lease,
): Promise<boolean> {
  const rows = await tx`
    update credentials
    set given_up_version = version,
      renew_at = null,
      ${endRefresh(tx)}
    where workspace_id = ${key.workspaceId}
    and account_id = ${key.accountId}
    and refresh_lease_token = ${leaseToken}
    returning version`;
  return rows.length > 0;
}

/** Its refresh token would expire without a refresh. */
export type IdleCredential = Pick<
  CredentialRow,
  "workspaceId" | "accountId" | "platform" | "version"
>;

/**
 * Claims credentials that no post has used for a long time and that are due for a refresh, of each
 * workspace in turn: it may run the servers that are asked, and let them answer slowly. Each
 * claimed credential can be claimed again after an hour, in case its refresh fails.
 */
export async function claimIdleCredentials(
  sql: Sql,
  { limit, deploymentId }: { readonly limit: number; readonly deploymentId: string },
): Promise<readonly IdleCredential[]> {
  // `skip locked` gives each replica different credentials. The refresh lease also prevents two
  // token requests for one credential at the same time.
  return await sql<IdleCredential[]>`
    with due as (
      select credential.account_id
      from credentials credential
      join (
        select account_id, row_number() over (partition by workspace_id order by renew_at) as turn
        from credentials
        where renew_at <= now()
      ) as queued using (account_id)
      where credential.renew_at <= now()
      and exists (select 1 from deployment d where ${isOwnData(sql, deploymentId)})
      order by queued.turn, credential.renew_at
      limit ${limit}
      for update of credential skip locked
    )
    update credentials c
    set renew_at = now() + interval '1 hour'
    from due, accounts a
    where c.account_id = due.account_id
    and a.id = due.account_id
    and a.status = 'active'
    returning c.workspace_id, c.account_id, a.platform, c.version`;
}
