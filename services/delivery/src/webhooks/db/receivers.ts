import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { DisabledReason } from "#src/webhooks/domain/subscription.ts";

/** What the dispatcher needs to know of a webhook subscription. */
export interface ReceiverRow {
  readonly id: string;
  readonly url: string;
  readonly status: string;
  readonly version: number;
  readonly maxPerSecond: number | null;
}

export async function listReceivers(
  sql: ISql,
  subscriptionIds: readonly string[],
): Promise<readonly ReceiverRow[]> {
  if (subscriptionIds.length === 0) return [];
  return await sql<ReceiverRow[]>`
    select id, url, status, version, max_per_second
    from webhook_subscriptions
    where id = any(${subscriptionIds as string[]}::uuid[])`;
}

/** A webhook subscription that was disabled, with its new version. */
export interface DisabledSubscription {
  readonly workspaceId: string;
  readonly version: number;
  readonly disabledAt: Date;
}

/** Why an address of a webhook subscription receives nothing more. */
export interface DisabledReceiver {
  readonly subscriptionId: string;
  readonly url: string;
  readonly reason: DisabledReason;
}

/**
 * Disables a webhook subscription because of the answers of an address. Returns undefined if it is disabled already, or if a user has
 * revoked it or changed its address meanwhile.
 */
export async function disableSubscription(
  tx: TransactionSql,
  { subscriptionId, url, reason }: DisabledReceiver,
): Promise<DisabledSubscription | undefined> {
  const rows = await tx<DisabledSubscription[]>`
    update webhook_subscriptions
    set status = 'disabled',
      disabled_reason = ${reason},
      version = version + 1,
      updated_at = now()
    where id = ${subscriptionId}
    and url = ${url}
    and status in ('active', 'paused')
    returning workspace_id, version, updated_at as disabled_at`;
  return rows[0];
}
