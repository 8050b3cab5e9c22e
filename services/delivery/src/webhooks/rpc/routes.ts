import type { ConnectRouter, ServiceImpl } from "@connectrpc/connect";
import { WebhookService } from "@postrider/contracts/delivery/v1/webhook_service_pb";
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
    router.service(WebhookService, {
      listWebhooks: (request) => listWebhooks(deps, request),
      createWebhook: (request) => createWebhook(deps, request),
      updateWebhook: (request) => updateWebhook(deps, request),
      revokeWebhook: (request) => revokeWebhook(deps, request),
      listWebhookDeliveries: (request) => listWebhookDeliveries(deps, request),
      retryWebhookDelivery: (request) => retryWebhookDelivery(deps, request),
      resealWebhookSecrets: (request) => resealWebhookSecrets(deps, request),
    } satisfies ServiceImpl<typeof WebhookService>);
  };
}
