import type { ISql } from "@postrider/shared/postgres";

/** A signing secret of a subscription, encrypted. */
export interface SealedSecret {
  readonly id: string;
  readonly subscriptionId: string;
  /** The encrypted text: `whsec_…` or `whsk_…`. */
  readonly sealed: string;
  /** Milliseconds until the secret stops signing; null for the newest one. */
  readonly expiresInMs: number | null;
}

/** Returns the secrets that sign the deliveries of subscriptions, newest first. */
export async function listSigningSecrets(
  sql: ISql,
  subscriptionIds: readonly string[],
): Promise<readonly SealedSecret[]> {
  if (subscriptionIds.length === 0) return [];
  return await sql<SealedSecret[]>`
    select id, subscription_id, sealed,
      (extract(epoch from expires_at - now()) * 1000)::float8 as expires_in_ms
    from webhook_secrets
    where subscription_id = any(${subscriptionIds as string[]}::uuid[])
    and (expires_at is null or expires_at > now())
    order by created_at desc, id desc`;
}
