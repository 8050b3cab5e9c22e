import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";

/** A sealing key, which encrypts stored tokens, and the number of credentials that are encrypted with it. */
export interface SealingKeyUse {
  readonly keyId: string;
  readonly credentials: number;
}

/** Lists the ids of the sealing keys that encrypted the stored tokens, each with its number of credentials. */
export async function listSealingKeyUses(sql: ISql): Promise<readonly SealingKeyUse[]> {
  const rows = await sql<{ keyId: string; credentials: string }[]>`
    select split_part(access_token, '.', 2) as key_id, count(*) as credentials
    from credentials
    where access_token is not null
    group by 1`;
  return rows.map(({ keyId, credentials }) => ({ keyId, credentials: Number(credentials) }));
}

/** The encrypted (sealed) tokens of an account, as they are stored. */
export interface SealedTokens {
  readonly accountId: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

/**
 * Locks credentials that are not encrypted with the newest sealing key, in the order of their account ids.
 *
 * @param after The last account id of the previous batch. A credential that cannot be decrypted is therefore read only
 *   once in a run of the job.
 */
export async function lockStaleCredentials(
  tx: TransactionSql,
  newestKeyId: string,
  after: string,
  limit: number,
): Promise<readonly SealedTokens[]> {
  // "Not the newest sealing key" is written as two ranges, because an index cannot serve "not equal". `skip locked`
  // gives each replica different rows. It also skips a credential that is being refreshed, because the refresh encrypts
  // it with the newest key anyway.
  return await tx<SealedTokens[]>`
    select account_id, access_token, refresh_token
    from credentials
    where (
      split_part(access_token, '.', 2) < ${newestKeyId}
      or split_part(access_token, '.', 2) > ${newestKeyId}
    )
    and account_id > ${after}
    order by account_id
    limit ${limit}
    for update skip locked`;
}

/**
 * Replaces stored tokens with the same tokens, encrypted with another sealing key. The version of the credential stays
 * the same, because the tokens themselves do not change.
 */
export async function writeResealedTokens(
  tx: TransactionSql,
  tokens: readonly SealedTokens[],
): Promise<void> {
  const rows = tokens.map((each) => ({
    account_id: each.accountId,
    access_token: each.accessToken,
    refresh_token: each.refreshToken,
  }));
  await tx`
    update credentials c
    set access_token = resealed.access_token,
      refresh_token = resealed.refresh_token
    from jsonb_to_recordset(${tx.json(rows)})
      as resealed (account_id uuid, access_token text, refresh_token text)
    where c.account_id = resealed.account_id`;
}

/** Counts the credentials that are not encrypted with the newest sealing key. */
export async function countStaleCredentials(sql: Sql, newestKeyId: string): Promise<number> {
  const uses = await listSealingKeyUses(sql);
  return uses
    .filter(({ keyId }) => keyId !== newestKeyId)
    .reduce((sum, { credentials }) => sum + credentials, 0);
}
