import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { parseSealedKeyPart, sealedKeyPart } from "@postrider/shared/secrets/sealing";
import type { SealingStage } from "#src/db/sealing-stage.ts";

/** A key that encrypts stored tokens, and the number of credentials that are encrypted with it. */
export interface SealingKeyUse {
  readonly keyId: string;
  /** Whether the counted credentials have tokens that are bound to the data of their accounts. */
  readonly isBound: boolean;
  readonly credentials: number;
}

/**
 * Lists the keys with which stored tokens were encrypted, with their numbers of credentials. Tokens that are bound to the data
 * of their accounts are counted separately.
 */
export async function listSealingKeyUses(sql: ISql): Promise<readonly SealingKeyUse[]> {
  const rows = await sql<{ keyPart: string; credentials: string }[]>`
    select split_part(access_token, '.', 2) as key_part, count(*) as credentials
    from credentials
    where access_token is not null
    group by 1`;
  return rows.map(({ keyPart, credentials }) => ({
    ...parseSealedKeyPart(keyPart),
    credentials: Number(credentials),
  }));
}

/** The key and the binding to account data that encrypted tokens must have in order not to be encrypted again. */
export interface CurrentSealing {
  readonly newestKeyId: string;
  readonly stage: SealingStage;
}

/** Whether tokens are encrypted with an older key, or are not bound to the data of their account although they should be. */
function isStale(
  { keyId, isBound }: Pick<SealingKeyUse, "keyId" | "isBound">,
  { newestKeyId, stage }: CurrentSealing,
): boolean {
  return keyId !== newestKeyId || (!isBound && stage !== "unbound");
}

/** The encrypted tokens of an account, as they are stored. */
export interface SealedTokens {
  readonly accountId: string;
  readonly accessToken: string;
  readonly refreshToken: string | null;
}

/** Encrypted tokens that have to be encrypted again, and the data of their account to which they are bound. */
export interface StaleTokens extends SealedTokens {
  readonly workspaceId: string;
  readonly platform: string;
  readonly externalId: string;
  readonly attributes: Readonly<Record<string, string>>;
}

interface Page {
  /** The account id of the last credential on the previous page. */
  readonly after: string;
  readonly limit: number;
}

/** Returns SQL for a page of credentials that are stale as `isStale` says, in the order of their account ids. */
function stalePage(sql: ISql, { newestKeyId, stage }: CurrentSealing, { after, limit }: Page) {
  const bound = sealedKeyPart(newestKeyId, true);
  const first = stage === "unbound" ? newestKeyId : bound;
  // "Not the newest encryption key" is written as two ranges, because an index cannot serve "not equal".
  return sql`
    select c.account_id, c.access_token, c.refresh_token, c.attributes, a.workspace_id, a.platform, a.external_id
    from credentials c
    join accounts a on a.id = c.account_id
    where (
      split_part(c.access_token, '.', 2) < ${first}
      or split_part(c.access_token, '.', 2) > ${first}
    )
    and split_part(c.access_token, '.', 2) <> ${bound}
    and c.account_id > ${after}
    order by c.account_id
    limit ${limit}`;
}

/** Reads a page of credentials that have to be encrypted again, also those that other transactions have locked. */
export async function listStaleCredentials(
  sql: ISql,
  current: CurrentSealing,
  page: Page,
): Promise<readonly StaleTokens[]> {
  return await sql<StaleTokens[]>`${stalePage(sql, current, page)}`;
}

/** Locks a page of credentials that have to be encrypted again. */
export async function lockStaleCredentials(
  tx: TransactionSql,
  current: CurrentSealing,
  page: Page,
): Promise<readonly StaleTokens[]> {
  // `skip locked` gives each replica different rows. It also skips a credential that is being changed: a refresh
  // encrypts it with the newest key, and after any other change a later call finds it.
  return await tx<StaleTokens[]>`
    ${stalePage(tx, current, page)}
    for update of c skip locked`;
}

/**
 * Replaces stored tokens with the same tokens, encrypted in another way. The version of the credential stays the same,
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

/** Counts the credentials that have to be encrypted again. */
export async function countStaleCredentials(sql: ISql, current: CurrentSealing): Promise<number> {
  const uses = await listSealingKeyUses(sql);
  return uses
    .filter((use) => isStale(use, current))
    .reduce((sum, { credentials }) => sum + credentials, 0);
}
