import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListWebhookDeliveriesRequest,
  ListWebhookDeliveriesResponseSchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { invalidRequest, notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { parsePage, toCursor } from "#src/operations/parse-page.ts";
import { DELIVERY_STATUSES } from "#src/webhooks/db/delivery-details.ts";
import { listDeliveries } from "#src/webhooks/db/history.ts";
import { findSubscription } from "#src/webhooks/db/subscriptions.ts";
import { EVENT_TYPES } from "#src/webhooks/domain/webhook-event.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";
import { toWebhookDelivery } from "./to-webhook-delivery.ts";

const MAX_PAGE_BYTES = 2 * 1024 * 1024;

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
  const { deliveries, hasMore } = await sql.begin(
    "isolation level repeatable read read only",
    (tx) => listDeliveries(tx, webhookId, { ...page, ...filter, maxBytes: MAX_PAGE_BYTES }),
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
