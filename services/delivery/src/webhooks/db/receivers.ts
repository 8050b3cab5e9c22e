import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { DisableReason } from "#src/webhooks/domain/lane-state.ts";

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

/** Disables a webhook subscription. Returns undefined if a user has revoked it, or if it is disabled already. */
export async function disableSubscription(
  tx: TransactionSql,
  subscriptionId: string,
  reason: DisableReason,
): Promise<DisabledSubscription | undefined> {
  const rows = await tx<DisabledSubscription[]>`
    update webhook_subscriptions
    set status = 'disabled',
      disabled_reason = ${reason},
      version = version + 1,
      updated_at = now()
    where id = ${subscriptionId}
    and status in ('active', 'paused')
    returning workspace_id, version, updated_at as disabled_at`;
  return rows[0];
}
