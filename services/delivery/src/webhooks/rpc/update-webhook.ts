import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateWebhookRequest,
  UpdateWebhookResponseSchema,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound, wrongStatus } from "@postrider/shared/errors";
import { assertIds, newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { readClock } from "@postrider/shared/postgres/clock";
import { resetReceiver } from "#src/webhooks/db/leases.ts";
import { insertSecret, retireSecrets } from "#src/webhooks/db/secrets.ts";
import { lockSubscription, updateSubscription } from "#src/webhooks/db/subscriptions.ts";
import {
  changeSubscription,
  type Subscription,
  type SubscriptionChange,
} from "#src/webhooks/domain/subscription.ts";
import { createSigningSecret } from "#src/webhooks/operations/signing-secret.ts";
import { toWebhook } from "#src/webhooks/operations/to-webhook.ts";
import { storeTest } from "#src/webhooks/operations/webhook-events.ts";
import { auditChange, toWebhookAudit } from "#src/webhooks/rpc/to-webhook-audit.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";
import { assertAddress, assertFields, assertUrl } from "./parse-webhook.ts";

/** Secrets that sign during the grace periods of rotations, the newest one included. */
const MAX_SECRETS = 5;

export async function updateWebhook(
  deps: WebhookRpcDeps,
  request: UpdateWebhookRequest,
): Promise<MessageInitShape<typeof UpdateWebhookResponseSchema>> {
  const { workspaceId, id, rotateSecret } = request;
  assertIds(workspaceId, id);
  const change = parseChange(request);
  if (change.url !== undefined) assertUrl(change.url, deps.outbound);
  const { row, secret } = await beginInTurn(deps.sql, workspaceId, async (tx) => {
    const known = await lockSubscription(tx, workspaceId, id);
    if (known === undefined) throw notFound();
    if (Object.keys(change).length === 0 && rotateSecret === undefined) throw invalidRequest();
    if (rotateSecret !== undefined && known.signing === "ed25519")
      throw invalidRequest([{ code: "secret_unsupported", path: "/rotateSecret" }]);
    if (known.status === "revoked") throw wrongStatus("revoked", ["active", "paused", "disabled"]);
    if (change.url !== undefined) assertAddress(change.url, deps.outbound);
    const changed = changeSubscription(known, change, await readClock(tx));
    await updateSubscription(tx, changed);
    await restart(tx, deps, known, changed);
    await appendAudit(tx, auditChange(known, changed));
    return { row: changed, secret: await rotate(tx, deps, request) };
  });
  deps.nudgeDispatcher();
  return { webhook: toWebhook(row), ...(secret === undefined ? {} : { secret }) };
}

function parseChange(request: UpdateWebhookRequest): SubscriptionChange {
  const { url, description, status, maxPerSecond, rotateSecret } = request;
  const events = request.events.length === 0 ? undefined : request.events;
  const graceHours = rotateSecret?.graceHours;
  assertFields({ url, description, events, status, maxPerSecond, graceHours });
  return {
    ...(url === undefined ? {} : { url }),
    ...(description === undefined ? {} : { description }),
    ...(events === undefined ? {} : { events }),
    ...(status === "active" || status === "paused" ? { status } : {}),
    ...(maxPerSecond === undefined
      ? {}
      : { maxPerSecond: maxPerSecond === 0 ? null : maxPerSecond }),
  };
}

/** Sends waiting deliveries of a resumed subscription, and webhook.test to a new address. */
async function restart(
  tx: TransactionSql,
  { backlogs }: Pick<WebhookRpcDeps, "backlogs">,
  known: Subscription,
  changed: Subscription,
): Promise<void> {
  const isMoved = known.url !== changed.url;
  const isResumed = known.status !== "active" && changed.status === "active";
  if (isMoved || isResumed) await resetReceiver(tx, changed.id);
  if (isMoved) await storeTest(tx, backlogs, changed, changed.updatedAt);
}

async function rotate(
  tx: TransactionSql,
  { sealingKeys }: Pick<WebhookRpcDeps, "sealingKeys">,
  { id, workspaceId, rotateSecret }: UpdateWebhookRequest,
): Promise<string | undefined> {
  if (rotateSecret === undefined) return undefined;
  const { secret } = createSigningSecret("hmac-sha256");
  const { graceHours } = rotateSecret;
  await retireSecrets(tx, id, { graceHours, keep: MAX_SECRETS - 1 });
  await insertSecret(tx, sealingKeys, { id: newId(), subscriptionId: id, workspaceId, secret });
  await appendAudit(tx, [toWebhookAudit("webhook.rotate_secret", { id, workspaceId })]);
  return secret;
}
