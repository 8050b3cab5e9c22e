import type { AuditEntry } from "@postrider/shared/audit/append";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";

/** Returns the audit entry about a change of a webhook subscription. */
export function toWebhookAudit(
  action: "webhook.create" | "webhook.update" | "webhook.revoke" | "webhook.rotate_secret",
  { id, workspaceId }: Pick<Subscription, "id" | "workspaceId">,
  details: AuditEntry["details"] = {},
): AuditEntry {
  return { action, subject: { type: "webhook", id }, workspaceId, details };
}

/**
 * Returns the audit entry about the fields of a subscription that a request has changed; none if it changed nothing, so that
 * repeated requests do not fill the log. Of the address and the description, the entry says only that they changed, not their
 * values, because the address may contain a token of the customer.
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
