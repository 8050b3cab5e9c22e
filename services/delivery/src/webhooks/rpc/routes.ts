import type { ConnectRouter } from "@connectrpc/connect";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { serveMethods } from "@postrider/shared/connect/methods";
import type { WebhookRpcDeps } from "./dependencies.ts";
import { updateWebhook } from "./update-webhook.ts";
import { listWebhookDeliveries, retryWebhookDelivery } from "./webhook-delivery-service.ts";
import {
  createWebhook,
  listWebhooks,
  resealWebhookSecrets,
  revokeWebhook,
} from "./webhook-service.ts";

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
