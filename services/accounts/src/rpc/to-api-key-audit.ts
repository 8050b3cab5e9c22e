import type { AuditEntry } from "@postrider/shared/audit/append";
import type { ApiKeyRow } from "#src/db/api-keys.ts";

/** Returns the audit entries for a change of an API key: one for each workspace that the API key may use. */
export function toAuditEntries(
  action: "key.create" | "key.revoke",
  { id, prefix, name, scopes, workspaceIds, expiresAt }: ApiKeyRow,
): readonly AuditEntry[] {
  const details = {
    name,
    prefix,
    scopes,
    workspaces: workspaceIds.length,
    expiresAt: expiresAt?.toISOString(),
  };
  const subject = { type: "key", id } as const;
  return workspaceIds.map((workspaceId) => ({ action, subject, workspaceId, details }));
}
