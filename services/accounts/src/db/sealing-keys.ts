import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";

/** The use of a sealing key: its id and the number of credentials that are sealed with it. */
export interface SealingKeyUse {
  readonly keyId: string;
  readonly credentials: number;
}

/** Lists the ids of the keys that sealed the stored tokens, each with its number of credentials. */
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
 * Locks credentials that are sealed with a key other than the newest, in the order of their account ids.
 *
 * @param after The last account of the previous batch, so that one run of the job reads a credential that cannot be
 *   unsealed only once.
 */
export async function lockStaleCredentials(
  tx: TransactionSql,
  newestKeyId: string,
  after: string,
  limit: number,
): Promise<readonly SealedTokens[]> {
  // The condition consists of two ranges of the index, because an index cannot serve "not equal". `skip locked` gives
  // each replica different rows. It also skips a credential that is being refreshed, because the refresh seals it with
  // the newest key.
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
 * Replaces stored tokens with the same tokens sealed with another key. The version of the credential stays the same,
 * because the tokens themselves do not change.
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

/** Counts the credentials that are sealed with a key other than the newest. */
export async function countStaleCredentials(sql: Sql, newestKeyId: string): Promise<number> {
  const uses = await listSealingKeyUses(sql);
  return uses
    .filter(({ keyId }) => keyId !== newestKeyId)
    .reduce((sum, { credentials }) => sum + credentials, 0);
}
