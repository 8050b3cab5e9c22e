import type { AuditEntry } from "@postrider/shared/audit/append";

/** Returns the audit entry for a change of an account. */
export function toAccountAudit(
  action: Extract<AuditEntry["action"], `account.${string}`>,
  { workspaceId, accountId }: { readonly workspaceId: string; readonly accountId: string },
  details: NonNullable<AuditEntry["details"]>,
): AuditEntry {
  return { action, subject: { type: "account", id: accountId }, workspaceId, details };
}
