import type { AuditEntry } from "@postrider/shared/audit/append";
import type { Subscription } from "#src/webhooks/domain/subscription.ts";

/** Returns the audit entry about a change of a webhook subscription. */
export function toWebhookAudit(
  action: "webhook.create" | "webhook.update" | "webhook.revoke" | "webhook.rotate_secret",
  { id, workspaceId }: Subscription,
  details: AuditEntry["details"] = {},
): AuditEntry {
  return { action, subject: { type: "webhook", id }, workspaceId, details };
}
