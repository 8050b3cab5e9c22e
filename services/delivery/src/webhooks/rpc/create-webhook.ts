import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateWebhookRequest,
  CreateWebhookResponseSchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { unprocessable } from "@postrider/shared/errors";
import { assertIds, newId } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { readClock } from "@postrider/shared/postgres/clock";
import { assertFewNewRows } from "#src/db/new-rows.ts";
import { insertSecret } from "#src/webhooks/db/secrets.ts";
import { insertSubscription, lockSubscriptionCount } from "#src/webhooks/db/subscriptions.ts";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";
import { createSigningSecret } from "#src/webhooks/operations/signing-secret.ts";
import { toWebhook } from "#src/webhooks/operations/to-webhook.ts";
import { storeTest } from "#src/webhooks/operations/webhook-events.ts";
import { toWebhookAudit } from "#src/webhooks/rpc/to-webhook-audit.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";
import { assertAddress, assertFields, assertUrl, isSigning } from "./parse-webhook.ts";

const MAX_WEBHOOKS_PER_WORKSPACE = 50;

/** Also makes the event webhook.test, with which the endpoint can be tried. */
export async function createWebhook(
  deps: WebhookRpcDeps,
  request: CreateWebhookRequest,
): Promise<MessageInitShape<typeof CreateWebhookResponseSchema>> {
  const { workspaceId, url, description, events, maxPerSecond = 0 } = request;
  assertIds(workspaceId);
  assertFields({ ...request, maxPerSecond });
  assertUrl(url, deps.outbound);
  assertAddress(url, deps.outbound);
  const signing = isSigning(request.signing) ? request.signing : "hmac-sha256";
  const { secret, publicKey } = createSigningSecret(signing);
  const created = await beginInTurn(deps.sql, workspaceId, async (tx) => {
    const count = await lockSubscriptionCount(tx, workspaceId);
    if (count >= MAX_WEBHOOKS_PER_WORKSPACE) throw tooMany(count);
    await assertFewNewRows(tx, "webhook_subscriptions", workspaceId);
    const now = await readClock(tx);
    const row: Subscription = {
      id: newId(),
      workspaceId,
      url,
      description,
      events,
      status: "active",
      disabledReason: null,
      signing,
      publicKey,
      maxPerSecond: maxPerSecond === 0 ? null : maxPerSecond,
      version: 1,
      createdAt: now,
      updatedAt: now,
    };
    await insertSubscription(tx, row);
    const stored = { id: newId(), subscriptionId: row.id, workspaceId, secret };
    await insertSecret(tx, deps.sealingKeys, stored);
    await storeTest(tx, deps.backlogs, row, now);
    await appendAudit(tx, [toWebhookAudit("webhook.create", row, { events, signing })]);
    return row;
  });
  deps.nudgeDispatcher();
  return { webhook: toWebhook(created), ...(signing === "hmac-sha256" ? { secret } : {}) };
}

function tooMany(count: number) {
  return unprocessable("validation_failed", [
    { code: "too_many_subscriptions", limit: MAX_WEBHOOKS_PER_WORKSPACE, actual: count + 1 },
  ]);
}
