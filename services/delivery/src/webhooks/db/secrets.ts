import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import {
  newNonce,
  seal,
  unseal,
  type SealedPlace,
  type SealingKey,
} from "@postrider/shared/secrets/sealing";

function placeOf(id: string, subscriptionId: string): SealedPlace {
  return { table: "webhook_secrets", rowId: `${id}/${subscriptionId}`, column: "sealed" };
}

export interface SealedSecret {
  readonly id: string;
  readonly subscriptionId: string;
  readonly sealed: string;
}

interface NewSecret {
  readonly id: string;
  readonly subscriptionId: string;
  readonly workspaceId: string;
  readonly secret: string;
}

/**
 * Decrypts a signing secret of a webhook subscription.
 *
 * @throws SealError when the secret was changed in the database, or when its key is missing.
 */
export function openSecret(
  keys: readonly SealingKey[],
  { id, subscriptionId, sealed }: SealedSecret,
): string {
  return unseal(keys, placeOf(id, subscriptionId), sealed);
}

export async function insertSecret(
  tx: TransactionSql,
  keys: readonly SealingKey[],
  { id, subscriptionId, workspaceId, secret }: NewSecret,
): Promise<void> {
  const sealed = seal(keys, placeOf(id, subscriptionId), secret, newNonce());
  await tx`
    insert into webhook_secrets (id, subscription_id, workspace_id, sealed)
    values (${id}, ${subscriptionId}, ${workspaceId}, ${sealed})`;
}

/**
 * Lets the signing secrets of a subscription end after a grace period, or at the earlier time that
 * a previous rotation set, and deletes secrets that have ended. At most `keep` secrets, the newest,
 * go on signing.
 */
export async function retireSecrets(
  tx: TransactionSql,
  subscriptionId: string,
  { graceHours, keep }: { readonly graceHours: number; readonly keep: number },
): Promise<void> {
  await tx`
    update webhook_secrets
    set expires_at = least(expires_at, now() + make_interval(hours => ${graceHours}))
    where subscription_id = ${subscriptionId}`;
  await tx`
    delete from webhook_secrets
    where subscription_id = ${subscriptionId}
    and (expires_at <= now() or id not in (
      select id
      from webhook_secrets
      where subscription_id = ${subscriptionId}
      order by id desc
      limit ${keep}
    ))`;
}

/** Deletes all signing secrets of a revoked subscription, which never sends again. */
export async function deleteSecrets(tx: TransactionSql, subscriptionId: string): Promise<void> {
  await tx`
    delete from webhook_secrets
    where subscription_id = ${subscriptionId}`;
}

export interface SigningSecret extends SealedSecret {
  /** Milliseconds until the signing secret stops signing; null for the newest one. */
  readonly expiresInMs: number | null;
}

export async function listSigningSecrets(
  sql: ISql,
  subscriptionIds: readonly string[],
): Promise<readonly SigningSecret[]> {
  return await sql<SigningSecret[]>`
    select id, subscription_id, sealed,
      (extract(epoch from expires_at - now()) * 1000)::float8 as expires_in_ms
    from webhook_secrets
    where subscription_id = any (${[...subscriptionIds]}::uuid[])
    and (expires_at is null or expires_at > now())
    order by id desc`;
}

/** Returns the ids of the encryption keys with which stored signing secrets are sealed. */
export async function listSecretKeys(sql: ISql): Promise<readonly string[]> {
  const rows = await sql<{ keyId: string }[]>`
    select distinct split_part(sealed, '.', 2) as key_id
    from webhook_secrets`;
  return rows.map(({ keyId }) => keyId);
}

function isStale(sql: ISql, newestKeyId: string) {
  return sql`split_part(sealed, '.', 2) <> ${newestKeyId}`;
}

export async function countStaleSecrets(sql: ISql, newestKeyId: string): Promise<number> {
  const rows = await sql<{ count: number }[]>`
    select count(*)::int as count
    from webhook_secrets
    where ${isStale(sql, newestKeyId)}`;
  return rows[0]?.count ?? 0;
}

/**
 * Locks a page of signing secrets that are not encrypted with the newest key, in the order of their
 * ids.
 */
export async function lockStaleSecrets(
  tx: TransactionSql,
  newestKeyId: string,
  { after, limit }: { readonly after: string; readonly limit: number },
): Promise<readonly SealedSecret[]> {
  // A rotation locks the secrets of a subscription in another order. Skipping locked rows prevents
  // a deadlock; the next pass over all secrets finds the skipped ones.
  return await tx<SealedSecret[]>`
    select id, subscription_id, sealed
    from webhook_secrets
    where ${isStale(tx, newestKeyId)}
    and id > ${after}
    order by id
    limit ${limit}
    for no key update skip locked`;
}

export function resealSecret(keys: readonly SealingKey[], secret: SealedSecret): SealedSecret {
  const { id, subscriptionId } = secret;
  const sealed = seal(keys, placeOf(id, subscriptionId), openSecret(keys, secret), newNonce());
  return { ...secret, sealed };
}

export async function replaceSealed(
  tx: TransactionSql,
  secrets: readonly SealedSecret[],
): Promise<void> {
  const rows = secrets.map(({ id, sealed }) => ({ id, sealed }));
  await tx`
    update webhook_secrets
    set sealed = resealed.sealed
    from jsonb_to_recordset(${tx.json(rows)}) as resealed (id uuid, sealed text)
    where webhook_secrets.id = resealed.id`;
}

export async function listMovedSecrets(
  sql: ISql,
  workspaceId: string,
): Promise<readonly (SealedSecret & { readonly expiresAt: string | null })[]> {
  return await sql<(SealedSecret & { expiresAt: string | null })[]>`
    select id, subscription_id, sealed, expires_at::text
    from webhook_secrets
    where workspace_id = ${workspaceId}
    and (expires_at is null or expires_at > now())
    order by id`;
}

/** Only for a subscription that was imported; a repeated call changes nothing. */
export async function insertMovedSecret(
  tx: TransactionSql,
  keys: readonly SealingKey[],
  moved: NewSecret & { readonly expiresAt: string | null },
): Promise<void> {
  const { id, subscriptionId, workspaceId, secret, expiresAt } = moved;
  const sealed = seal(keys, placeOf(id, subscriptionId), secret, newNonce());
  await tx`
    insert into webhook_secrets (id, subscription_id, workspace_id, sealed, expires_at)
    select ${id}, s.id, ${workspaceId}, ${sealed}, ${expiresAt}::timestamptz
    from webhook_subscriptions s
    where s.id = ${subscriptionId}
    and s.workspace_id = ${workspaceId}
    on conflict (id) do nothing`;
}
