import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  ListWebhookDeliveriesRequest,
  ListWebhookDeliveriesResponseSchema,
  RetryWebhookDeliveryRequest,
  RetryWebhookDeliveryResponseSchema,
  WebhookAttemptSchema,
  WebhookDeliverySchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { invalidRequest, notFound, unprocessable, wrongStatus } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn, readInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { parsePage, toCursor } from "#src/operations/parse-page.ts";
import {
  type AttemptJson,
  DELIVERY_STATUSES,
  type DeliveryRow,
  getDelivery,
  lockDelivery,
  requeueDelivery,
} from "#src/webhooks/db/delivery-details.ts";
import { listDeliveries } from "#src/webhooks/db/history.ts";
import { wakeSubscriptions } from "#src/webhooks/db/leases.ts";
import { findSubscription, lockSubscription } from "#src/webhooks/db/subscriptions.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import { EVENT_TYPES } from "#src/webhooks/domain/webhook-event.ts";
import { destinationOf } from "#src/webhooks/operations/backlogs.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";

function toAttempt(attempt: AttemptJson): MessageInitShape<typeof WebhookAttemptSchema> {
  return {
    number: attempt.number,
    startedAt: timestampFromDate(new Date(attempt.startedAt)),
    durationMs: attempt.durationMs,
    ...(attempt.statusCode === null ? {} : { statusCode: attempt.statusCode }),
    ...(attempt.error === null ? {} : { error: attempt.error }),
    requestHeaders: { ...attempt.requestHeaders },
    responseHeaders: { ...attempt.responseHeaders },
    ...(attempt.responseBody === null ? {} : { responseBody: attempt.responseBody }),
  };
}

function toWebhookDelivery(row: DeliveryRow): MessageInitShape<typeof WebhookDeliverySchema> {
  return {
    id: row.id,
    eventId: row.eventId,
    eventType: row.eventType,
    status: row.status,
    attemptCount: row.attemptCount,
    createdAt: timestampFromDate(row.createdAt),
    ...(row.nextAttemptAt === null ? {} : { nextAttemptAt: timestampFromDate(row.nextAttemptAt) }),
    ...(row.error === null ? {} : { error: row.error }),
    ...(row.payload === null ? {} : { payload: row.payload }),
    attempts: row.attempts.map(toAttempt),
  };
}

const MAX_PAGE_BYTES = 512 * 1024;

export async function listWebhookDeliveries(
  { sql, cursorKeys }: Pick<WebhookRpcDeps, "sql" | "cursorKeys">,
  request: ListWebhookDeliveriesRequest,
): Promise<MessageInitShape<typeof ListWebhookDeliveriesResponseSchema>> {
  const { workspaceId, webhookId, status, eventType } = request;
  assertIds(workspaceId, webhookId);
  const filter = {
    status: parseOption("/status", status, DELIVERY_STATUSES),
    eventType: parseOption("/eventType", eventType, EVENT_TYPES),
  };
  const scope = ["deliveries", workspaceId, webhookId, status, eventType];
  const page = parsePage(cursorKeys, scope, request);
  if ((await findSubscription(sql, workspaceId, webhookId)) === undefined) throw notFound();
  const { deliveries, hasMore } = await readInTurn(sql, workspaceId, () =>
    sql.begin("isolation level repeatable read read only", (tx) =>
      listDeliveries(tx, webhookId, { ...page, ...filter, maxBytes: MAX_PAGE_BYTES }),
    ),
  );
  const last = deliveries.at(-1);
  // The database stores a delivery that is being sent as pending, but the list shows it with the
  // status `delivering`. So a delivery that is being sent is left out of a list of pending
  // deliveries.
  const shown = deliveries.filter((row) => status !== "pending" || row.status === "pending");
  return {
    deliveries: shown.map(toWebhookDelivery),
    ...(hasMore && last !== undefined ? { nextCursor: toCursor(cursorKeys, scope, last.id) } : {}),
  };
}

/** An empty text means that there is no filter. */
function parseOption<T extends string>(
  path: string,
  text: string,
  options: readonly T[],
): T | undefined {
  const option = options.find((each) => each === text);
  if (text !== "" && option === undefined) throw invalidRequest([{ code: "invalid", path }]);
  return option;
}

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
