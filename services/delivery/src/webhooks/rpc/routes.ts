import type { ConnectRouter } from "@connectrpc/connect";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { serveMethods } from "@postrider/shared/connect/methods";
import { createWebhook } from "./create-webhook.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";
import { listWebhookDeliveries } from "./list-webhook-deliveries.ts";
import { listWebhooks } from "./list-webhooks.ts";
import { resealWebhookSecrets } from "./reseal-webhook-secrets.ts";
import { retryWebhookDelivery } from "./retry-webhook-delivery.ts";
import { revokeWebhook } from "./revoke-webhook.ts";
import { updateWebhook } from "./update-webhook.ts";

export function createWebhookRoutes(deps: WebhookRpcDeps): (router: ConnectRouter) => void {
  return (router) => {
    serveMethods(router, deps, WebhookService, {
      listWebhooks,
      createWebhook,
      updateWebhook,
      revokeWebhook,
      listWebhookDeliveries,
      retryWebhookDelivery,
      resealWebhookSecrets,
    });
  };
}
