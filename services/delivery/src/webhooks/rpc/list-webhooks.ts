import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  ListWebhooksRequest,
  ListWebhooksResponseSchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { assertIds } from "@postrider/shared/ids";
import { parsePage, toPage } from "#src/operations/parse-page.ts";
import { listSubscriptions } from "#src/webhooks/db/subscriptions.ts";
import { toWebhook } from "#src/webhooks/operations/to-webhook.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";

export async function listWebhooks(
  { sql, cursorKeys }: Pick<WebhookRpcDeps, "sql" | "cursorKeys">,
  request: ListWebhooksRequest,
): Promise<MessageInitShape<typeof ListWebhooksResponseSchema>> {
  const { workspaceId } = request;
  assertIds(workspaceId);
  const scope = ["webhooks", workspaceId];
  const page = parsePage(cursorKeys, scope, request);
  const rows = await listSubscriptions(sql, workspaceId, page);
  const { shown, next } = toPage(cursorKeys, scope, page, rows);
  return { webhooks: shown.map(toWebhook), ...next };
}
