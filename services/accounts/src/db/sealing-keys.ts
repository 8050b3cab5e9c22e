import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { parseSealedKeyPart, sealedKeyPart } from "@postrider/shared/secrets/sealing";

export interface SealingKeyUse {
  readonly keyId: string;
  readonly credentials: number;
}

export async function listSealingKeyUses(sql: ISql): Promise<readonly SealingKeyUse[]> {
  const rows = await sql<{ keyPart: string; credentials: string }[]>`
    select split_part(access_token, '.', 2) as key_part, count(*) as credentials
    from credentials
    where access_token is not null
    group by 1`;
  return rows.map(({ keyPart, credentials }) => ({
    keyId: parseSealedKeyPart(keyPart).keyId,
    credentials: Number(credentials),
  }));
}

export interface SealedTokens {
  readonly accountId: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

/** Encrypted tokens, and the data of their account to which they are bound. */
export interface StaleTokens extends SealedTokens {
  readonly workspaceId: string;
  readonly platform: string;
  readonly externalId: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface Page {
  readonly after: string;
  readonly limit: number;
}

/**
 * Locks a page of credentials that are not encrypted with the newest key, in the order of their
 * account ids.
 */
export async function lockStaleCredentials(
  tx: TransactionSql,
  newestKeyId: string,
  { after, limit }: Page,
): Promise<readonly StaleTokens[]> {
  const newest = sealedKeyPart(newestKeyId, true);
  // "Not the newest encryption key" is written as two ranges, because an index cannot serve "not
  // equal". `skip locked` gives each replica different rows. It also skips a credential that is
  // being changed: a refresh encrypts it with the newest key, and after any other change a later
  // call finds it.
  return await tx<StaleTokens[]>`
    select c.account_id, c.access_token, c.refresh_token, c.attributes, a.workspace_id, a.platform, a.external_id
    from credentials c
    join accounts a on a.id = c.account_id
    where (
      split_part(c.access_token, '.', 2) < ${newest}
      or split_part(c.access_token, '.', 2) > ${newest}
    )
    and c.account_id > ${after}
    order by c.account_id
    limit ${limit}
    for update of c skip locked`;
}

/**
 * Replaces stored tokens with the same tokens, encrypted in another way. The version of the
 * credential stays the same, because the tokens themselves do not change.
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

export async function countStaleCredentials(sql: ISql, newestKeyId: string): Promise<number> {
  const uses = await listSealingKeyUses(sql);
  return uses
    .filter(({ keyId }) => keyId !== newestKeyId)
    .reduce((sum, { credentials }) => sum + credentials, 0);
}
