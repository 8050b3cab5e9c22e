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

/** Why a webhook subscription receives nothing more. */
export interface DisabledReceiver {
  readonly subscriptionId: string;
  /** Version of the subscription with which the attempt was sent that leads to this. */
  readonly version: number;
  readonly reason: DisabledReason;
}

/**
 * Disables a webhook subscription because of the answers to its attempts. Returns `changed` if a person has changed it since
 * the attempt began, and undefined if it is disabled or revoked already.
 */
export async function disableSubscription(
  tx: TransactionSql,
  { subscriptionId, version, reason }: DisabledReceiver,
): Promise<DisabledSubscription | "changed" | undefined> {
  const [disabled] = await tx<DisabledSubscription[]>`
    update webhook_subscriptions
    set status = 'disabled',
      disabled_reason = ${reason},
      version = version + 1,
      updated_at = now()
    where id = ${subscriptionId}
    and version = ${version}
    and status in ('active', 'paused')
    returning workspace_id, version, updated_at as disabled_at`;
  if (disabled !== undefined) return disabled;
  const open = await tx`
    select 1
    from webhook_subscriptions
    where id = ${subscriptionId}
    and status in ('active', 'paused')`;
  return open.length === 0 ? undefined : "changed";
}
