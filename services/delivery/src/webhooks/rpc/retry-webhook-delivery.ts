import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  RetryWebhookDeliveryRequest,
  RetryWebhookDeliveryResponseSchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { notFound, unprocessable, wrongStatus } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { getDelivery, lockDelivery, requeueDelivery } from "#src/webhooks/db/delivery-details.ts";
import { wakeSubscriptions } from "#src/webhooks/db/leases.ts";
import { lockSubscription } from "#src/webhooks/db/subscriptions.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import { destinationOf } from "#src/webhooks/operations/backlogs.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";
import { toWebhookDelivery } from "./to-webhook-delivery.ts";

/** A new attempt is made even while the receiver does not answer other attempts. */
export async function retryWebhookDelivery(
  deps: Pick<WebhookRpcDeps, "sql" | "backlogs" | "nudgeDispatcher">,
  { workspaceId, webhookId, deliveryId }: RetryWebhookDeliveryRequest,
): Promise<MessageInitShape<typeof RetryWebhookDeliveryResponseSchema>> {
  assertIds(workspaceId, webhookId, deliveryId);
  const delivery = await beginInTurn(deps.sql, workspaceId, async (tx) => {
    const subscription = await lockSubscription(tx, workspaceId, webhookId);
    const locked =
      subscription === undefined ? undefined : await lockDelivery(tx, webhookId, deliveryId);
    if (subscription === undefined || locked === undefined) throw notFound();
    if (locked.status !== "failed")
      throw wrongStatus(locked.status, ["failed"], "delivery_not_failed");
    if (subscription.status !== "active") throw wrongStatus(subscription.status, ["active"]);
    await addToBacklog(tx, deps, subscription);
    await requeueDelivery(tx, deliveryId);
    await wakeSubscriptions(tx, [webhookId]);
    const subject = { type: "webhook_delivery", id: deliveryId } as const;
    await appendDeed(tx, { action: "webhook_delivery.retry", subject, workspaceId });
    return await getDelivery(tx, deliveryId);
  });
  deps.nudgeDispatcher();
  return delivery === undefined ? {} : { delivery: toWebhookDelivery(delivery) };
}

/** Counts a delivery as waiting, and refuses the request if too many wait already. */
async function addToBacklog(
  tx: TransactionSql,
  { backlogs }: Pick<WebhookRpcDeps, "backlogs">,
  subscription: Subscription,
): Promise<void> {
  await backlogs.load(tx, [subscription.workspaceId]);
  const full = backlogs.add(destinationOf(subscription));
  if (full !== undefined)
    throw unprocessable("validation_failed", [{ code: "too_many_waiting_deliveries", ...full }]);
}
