import type { RevokeWebhookRequest } from "@postrider/contracts/delivery/v1/webhook_service_pb";
import { appendAudit } from "@postrider/shared/audit/append";
import { notFound } from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { readClock } from "@postrider/shared/postgres/clock";
import { deleteSecrets } from "#src/webhooks/db/secrets.ts";
import { lockSubscription, updateSubscription } from "#src/webhooks/db/subscriptions.ts";
import { toWebhookAudit } from "#src/webhooks/rpc/to-webhook-audit.ts";
import type { WebhookRpcDeps } from "./dependencies.ts";

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
