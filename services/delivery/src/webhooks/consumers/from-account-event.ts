import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { requiredTime } from "#src/webhooks/consumers/required-time.ts";
import { createWebhookEvent, type WebhookEvent } from "#src/webhooks/domain/webhook-event.ts";

/** What every webhook event about an account says. */
interface AccountMoment {
  readonly workspaceId: string;
  readonly accountId: string;
  readonly platform: string;
  readonly version: bigint;
  readonly occurredAt?: Timestamp | undefined;
}

type AccountEventType = "account.connected" | "account.disconnected" | "account.reconnect_required";

/** Converts a change of an account to the webhook event that subscriptions receive. */
export function fromAccountEvent(type: AccountEventType, account: AccountMoment): WebhookEvent {
  const { workspaceId, accountId, platform, version } = account;
  return createWebhookEvent(
    {
      workspaceId,
      type,
      occurredAt: requiredTime(account.occurredAt),
      sequence: Number(version),
      source: { kind: "account", accountId, platform },
    },
    `${accountId} ${version}`,
  );
}
