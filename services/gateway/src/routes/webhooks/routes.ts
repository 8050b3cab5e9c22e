import { ref } from "@postrider/rest/schemas";
import { toWebhook } from "@postrider/rest/webhooks/mapping";
import { ServiceError } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { FastifyInstance } from "fastify";
import type { Static } from "typebox";
import { defined } from "#src/http/defined.ts";
import type { ServerDeps } from "#src/routes/dependencies.ts";
import { operation } from "#src/routes/operation.ts";
import { callerOf, malformedId, pathId } from "#src/routes/request.ts";
import { CREATED_HEADERS, IdParams, NoQuery } from "#src/routes/schemas.ts";
import { toWebhookDelivery, toWebhookWithSecret } from "#src/routes/webhooks/mapping.ts";
import {
  CreateWebhook,
  DeliveryParams,
  ListDeliveriesQuery,
  ListWebhooksQuery,
  UpdateWebhook,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookList,
  WebhookWithSecret,
} from "#src/routes/webhooks/schemas.ts";

type Deps = Pick<ServerDeps, "webhooks">;
type Params = Static<typeof IdParams>;

const TAGS = ["webhooks"];

/**
 * What is reserved for a page of webhook deliveries, in bytes. The delivery service ends a page
 * earlier; this bounds how many unsent pages a workspace has.
 */
const PAGE_BYTES = 2 * 1024 * 1024;

/** Registers the operations on webhook subscriptions and their deliveries. */
export function registerWebhooks(api: FastifyInstance, deps: Deps): void {
  registerList(api, deps);
  registerCreate(api, deps);
  registerUpdate(api, deps);
  registerRevoke(api, deps);
  registerListDeliveries(api, deps);
  registerRetry(api, deps);
}

function registerList(api: FastifyInstance, { webhooks }: Deps): void {
  const list = operation({
    operationId: "listWebhooks",
    summary: "List webhook subscriptions, newest first",
    tags: TAGS,
    scope: "webhooks:read",
    querystring: ListWebhooksQuery,
    response: { 200: { description: "A page of subscriptions.", body: WebhookList } },
  });
  type Query = Static<typeof ListWebhooksQuery>;
  api.get<{ Querystring: Query }>("/webhooks", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const page = await webhooks.listWebhooks({ workspaceId, ...defined(request.query) });
    return { webhooks: page.webhooks.map(toWebhook), nextCursor: page.nextCursor ?? null };
  });
}

function registerCreate(api: FastifyInstance, { webhooks }: Deps): void {
  const create = operation({
    operationId: "createWebhook",
    summary: "Create a webhook subscription",
    description:
      "The endpoint receives the event `webhook.test`. The answer shows the signing secret, and no later answer does; the header `Idempotency-Key` is therefore ignored.",
    tags: TAGS,
    scope: "webhooks:write",
    querystring: NoQuery,
    body: ref(CreateWebhook),
    errors: ["validation_failed", "address_not_allowed"],
    response: {
      201: {
        description: "The subscription with its secret.",
        body: WebhookWithSecret,
        headers: { Location: CREATED_HEADERS.Location },
      },
    },
  });
  type Body = Static<typeof CreateWebhook>;
  api.post<{ Body: Body }>("/webhooks", create, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const { description = "", signing = "hmac-sha256", maxPerSecond, ...rest } = request.body;
    const answer = await webhooks.createWebhook({
      workspaceId,
      description,
      signing,
      ...rest,
      ...defined({ maxPerSecond: maxPerSecond ?? undefined }),
    });
    const webhook = toWebhookWithSecret(answer);
    reply.status(201).header("location", `/api/v1/webhooks/${webhook.id}`);
    return webhook;
  });
}

function registerUpdate(api: FastifyInstance, { webhooks }: Deps): void {
  const update = operation({
    operationId: "updateWebhook",
    summary: "Change, pause or resume a subscription, or rotate its secret",
    description:
      "An endpoint at a new address receives the event `webhook.test`. A disabled subscription becomes active again and sends what waits.",
    tags: TAGS,
    scope: "webhooks:write",
    params: IdParams,
    querystring: NoQuery,
    body: ref(UpdateWebhook),
    errors: ["address_not_allowed", "invalid_transition"],
    response: { 200: { description: "The subscription as it is now.", body: WebhookWithSecret } },
  });
  type Body = Static<typeof UpdateWebhook>;
  api.patch<{ Params: Params; Body: Body }>("/webhooks/:id", update, async (request) => {
    const { workspaceId } = callerOf(request);
    const id = pathId(request);
    const { maxPerSecond, ...rest } = request.body;
    // In the RPC, the maximum rate 0 removes the limit on how fast a webhook subscription is sent
    // deliveries. In the API, null does so.
    const limit = maxPerSecond === null ? 0 : maxPerSecond;
    const changes = defined({ ...rest, maxPerSecond: limit });
    return toWebhookWithSecret(await webhooks.updateWebhook({ workspaceId, id, ...changes }));
  });
}

function registerRevoke(api: FastifyInstance, { webhooks }: Deps): void {
  const revoke = operation({
    operationId: "revokeWebhook",
    summary: "Revoke a webhook subscription",
    description: "Pending deliveries are never sent. The history stays readable.",
    tags: TAGS,
    scope: "webhooks:write",
    params: IdParams,
    querystring: NoQuery,
    response: { 204: { description: "The subscription is revoked." } },
  });
  api.delete<{ Params: Params }>("/webhooks/:id", revoke, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    await webhooks.revokeWebhook({ workspaceId, id: pathId(request) });
    return reply.status(204).send();
  });
}

function registerListDeliveries(api: FastifyInstance, { webhooks }: Deps): void {
  const list = operation({
    operationId: "listWebhookDeliveries",
    summary: "List the deliveries of a subscription with their attempts, newest first",
    description:
      "Also of a revoked subscription, for 30 days unless the operator chose otherwise. A page may have fewer deliveries than `limit`; only `nextCursor: null` means that no further page exists.",
    tags: TAGS,
    scope: "webhooks:read",
    answerBytes: PAGE_BYTES,
    params: IdParams,
    querystring: ListDeliveriesQuery,
    response: { 200: { description: "A page of deliveries.", body: WebhookDeliveryList } },
  });
  type Query = Static<typeof ListDeliveriesQuery>;
  type Route = { Params: Params; Querystring: Query };
  api.get<Route>("/webhooks/:id/deliveries", list, async (request) => {
    const { workspaceId } = callerOf(request);
    const webhookId = pathId(request);
    const query = defined(request.query);
    const page = await webhooks.listWebhookDeliveries({ workspaceId, webhookId, ...query });
    return {
      deliveries: page.deliveries.map(toWebhookDelivery),
      nextCursor: page.nextCursor ?? null,
    };
  });
}

function registerRetry(api: FastifyInstance, { webhooks }: Deps): void {
  const retry = operation({
    operationId: "retryWebhookDelivery",
    summary: "Make a new attempt of a failed delivery",
    tags: TAGS,
    scope: "webhooks:write",
    params: DeliveryParams,
    querystring: NoQuery,
    errors: ["delivery_not_failed", "invalid_transition", "validation_failed"],
    response: { 202: { description: "The delivery, which is due now.", body: WebhookDelivery } },
  });
  const path = "/webhooks/:id/deliveries/:deliveryId/retry";
  api.post<{ Params: Static<typeof DeliveryParams> }>(path, retry, async (request, reply) => {
    const { workspaceId } = callerOf(request);
    const webhookId = pathId(request);
    const { deliveryId } = request.params;
    if (!isId(deliveryId)) throw malformedId(deliveryId);
    const { delivery } = await webhooks.retryWebhookDelivery({
      workspaceId,
      webhookId,
      deliveryId,
    });
    // An answer without a delivery is an error of the delivery service, not of the client.
    if (delivery === undefined) throw new ServiceError("internal", "internal");
    reply.status(202);
    return toWebhookDelivery(delivery);
  });
}
