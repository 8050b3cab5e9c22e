import type { AuditEntry } from "@postrider/shared/audit/append";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";

export function toWebhookAudit(
  action: "webhook.create" | "webhook.update" | "webhook.revoke" | "webhook.rotate_secret",
  { id, workspaceId }: Pick<Subscription, "id" | "workspaceId">,
  details: AuditEntry["details"] = {},
): AuditEntry {
  return { action, subject: { type: "webhook", id }, workspaceId, details };
}

/**
 * None if the request changed nothing, so that repeated requests do not fill the log. Of address
 * and description, the entry does not say the values, because the address may contain a token of
 * the customer.
 */
export function auditChange(before: Subscription, after: Subscription): readonly AuditEntry[] {
  const details = {
    ...(before.url === after.url ? {} : { isAddressChanged: true }),
    ...(before.description === after.description ? {} : { isDescriptionChanged: true }),
    ...(before.events.join() === after.events.join() ? {} : { events: after.events }),
    ...(before.status === after.status ? {} : { status: after.status }),
    ...(before.maxPerSecond === after.maxPerSecond ? {} : { maxPerSecond: after.maxPerSecond }),
  };
  return Object.keys(details).length === 0
    ? []
    : [toWebhookAudit("webhook.update", after, details)];
}
