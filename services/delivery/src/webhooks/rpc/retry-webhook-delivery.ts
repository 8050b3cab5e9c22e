import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RetryWebhookDeliveryRequest,
  RetryWebhookDeliveryResponseSchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { notFound, wrongStatus } from "@postrider/shared/errors";
import { getDelivery, lockDelivery, requeueDelivery } from "#src/webhooks/db/delivery-details.ts";
import { wakeLanes } from "#src/webhooks/db/lanes.ts";
import { lockSubscription } from "#src/webhooks/db/subscriptions.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";
import { assertIds } from "./parse-webhook.ts";
import { toWebhookDelivery } from "./to-webhook-delivery.ts";

/**
 * Makes a failed webhook delivery due now, so that a new attempt is made, even while the receiver does not answer other
 * attempts.
 */
export async function retryWebhookDelivery(
  deps: Pick<WebhookRpcDeps, "sql" | "nudgeDispatcher">,
  { workspaceId, webhookId, deliveryId }: RetryWebhookDeliveryRequest,
): Promise<MessageInitShape<typeof RetryWebhookDeliveryResponseSchema>> {
  assertIds(workspaceId, webhookId, deliveryId);
  const delivery = await deps.sql.begin(async (tx) => {
    const subscription = await lockSubscription(tx, workspaceId, webhookId);
    const locked =
      subscription === undefined ? undefined : await lockDelivery(tx, webhookId, deliveryId);
    if (subscription === undefined || locked === undefined) throw notFound();
    if (locked.status !== "failed")
      throw wrongStatus(locked.status, ["failed"], "delivery_not_failed");
    if (subscription.status !== "active") throw wrongStatus(subscription.status, ["active"]);
    await requeueDelivery(tx, deliveryId);
    await wakeLanes(tx, [webhookId]);
    const subject = { type: "webhook_delivery", id: deliveryId } as const;
    await appendDeed(tx, { action: "webhook_delivery.retry", subject, workspaceId });
    return await getDelivery(tx, deliveryId);
  });
  deps.nudgeDispatcher();
  return delivery === undefined ? {} : { delivery: toWebhookDelivery(delivery) };
}
