import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  CreateWebhookRequest,
  CreateWebhookResponseSchema,
  ListWebhooksRequest,
  ListWebhooksResponseSchema,
  ResealWebhookSecretsRequest,
  ResealWebhookSecretsResponseSchema,
  RevokeWebhookRequest,
} from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { invalidRequest, notFound, unprocessable } from "@postrider/shared/errors";
import { assertIds, isId, newId, NIL_ID } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { readClock } from "@postrider/shared/postgres/clock";
import { SealError } from "@postrider/shared/secrets/sealing";
import { assertFewNewRows } from "#src/db/new-rows.ts";
import { parsePage, toPage } from "#src/operations/parse-page.ts";
import {
  countStaleSecrets,
  deleteSecrets,
  insertSecret,
  lockStaleSecrets,
  replaceSealed,
  resealSecret,
  type SealedSecret,
} from "#src/webhooks/db/secrets.ts";
import {
  insertSubscription,
  listSubscriptions,
  lockSubscription,
  lockSubscriptionCount,
  updateSubscription,
} from "#src/webhooks/db/subscriptions.ts";
import {
  MAX_WEBHOOKS_PER_WORKSPACE,
  type Subscription,
} from "#src/webhooks/domain/subscription.ts";
import { createSigningSecret } from "#src/webhooks/operations/signing-secret.ts";
import { toWebhook } from "#src/webhooks/operations/to-webhook.ts";
import { storeTest } from "#src/webhooks/operations/webhook-events.ts";
import { toWebhookAudit } from "#src/webhooks/rpc/to-webhook-audit.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";
import { assertAddress, assertFields, assertUrl, isSigning } from "./parse-webhook.ts";

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

/**
 * This changes one row, however many deliveries wait: the dispatcher sends none of a revoked
 * subscription, and the job cancel-deliveries marks them as cancelled.
 */
export async function revokeWebhook(
  { sql }: Pick<WebhookRpcDeps, "sql">,
  { workspaceId, id }: RevokeWebhookRequest,
): Promise<Record<string, never>> {
  assertIds(workspaceId, id);
  await beginInTurn(sql, workspaceId, async (tx) => {
    const known = await lockSubscription(tx, workspaceId, id);
    if (known === undefined) throw notFound();
    if (known.status === "revoked") return;
    const updatedAt = await readClock(tx);
    const version = known.version + 1;
    const revoked = { status: "revoked", disabledReason: null } as const;
    await updateSubscription(tx, { ...known, ...revoked, version, updatedAt });
    await deleteSecrets(tx, id);
    await appendAudit(tx, [toWebhookAudit("webhook.revoke", known)]);
  });
  return {};
}

/** Number of signing secrets that are encrypted again in one transaction. */
const PAGE_SIZE = 200;

/** A secret that cannot be decrypted is logged and stays as it is. */
export async function resealWebhookSecrets(
  { sql, logger, sealingKeys }: Pick<WebhookRpcDeps, "sql" | "logger" | "sealingKeys">,
  { after }: ResealWebhookSecretsRequest,
): Promise<MessageInitShape<typeof ResealWebhookSecretsResponseSchema>> {
  if (after !== "" && !isId(after)) throw invalidRequest([{ code: "invalid", path: "/after" }]);
  const newestKeyId = sealingKeys[0]?.id ?? "";
  const reseal = (secret: SealedSecret): readonly SealedSecret[] => {
    try {
      return [resealSecret(sealingKeys, secret)];
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      logger.error(
        { err: error, subscriptionId: secret.subscriptionId },
        "the signing secret of a webhook subscription cannot be decrypted; add its key to HANDLE_KEYS, or rotate the secret if no key is missing",
      );
      return [];
    }
  };
  const page = await sql.begin(async (tx) => {
    const stale = await lockStaleSecrets(tx, newestKeyId, {
      after: after === "" ? NIL_ID : after,
      limit: PAGE_SIZE,
    });
    const resealed = stale.flatMap(reseal);
    if (resealed.length > 0) await replaceSealed(tx, resealed);
    return { last: stale.at(-1)?.id ?? "", stale: stale.length, resealed: resealed.length };
  });
  return {
    after: page.last,
    remaining: BigInt(await countStaleSecrets(sql, newestKeyId)),
    resealed: page.resealed,
    unreadable: page.stale - page.resealed,
  };
}
