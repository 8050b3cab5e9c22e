import type { ISql, Sql, TransactionSql } from "@postrider/shared/postgres";

/** A key, and how many credentials are sealed with it. */
export interface SealingKeyUse {
  readonly keyId: string;
  readonly credentials: number;
}

/** The keys that the stored tokens need. */
export async function countSealingKeys(sql: ISql): Promise<readonly SealingKeyUse[]> {
  const rows = await sql<{ keyId: string; credentials: string }[]>`
    select split_part(access_token, '.', 2) as key_id, count(*) as credentials
    from credentials
    where access_token is not null
    group by 1`;
  return rows.map(({ keyId, credentials }) => ({ keyId, credentials: Number(credentials) }));
}

/** Tokens as they are stored. */
export interface SealedTokens {
  readonly accountId: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

/**
 * Locks credentials that are sealed with another key than the newest, in the order of their accounts.
 *
 * @param after The last account of the batch before; what could not be opened is not met twice in one round.
 */
export async function lockStaleCredentials(
  tx: TransactionSql,
  newestKeyId: string,
  after: string,
  limit: number,
): Promise<readonly SealedTokens[]> {
  // Two ranges of the index instead of "not equal", which no index serves. `skip locked` gives several replicas
  // different rows, and passes by those of a refresh: it seals with the newest key itself.
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

/** Writes tokens that say the same under another key; the version stays, because nothing changed for anybody. */
export async function writeResealed(
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

/** How many credentials are sealed with another key than the newest. */
export async function countStaleCredentials(sql: Sql, newestKeyId: string): Promise<number> {
  const counts = await countSealingKeys(sql);
  return counts
    .filter(({ keyId }) => keyId !== newestKeyId)
    .reduce((sum, { credentials }) => sum + credentials, 0);
}
