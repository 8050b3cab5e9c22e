import type { AuditEntry } from "@postrider/shared/audit/append";
import type { ApiKeyRow } from "#src/db/api-keys.ts";

export function toAuditEntries(
  action: "key.create" | "key.revoke",
  { id, prefix, name, scopes, workspaceIds, expiresAt }: ApiKeyRow,
  /** The key that was named, which may be the one that made this one. */
  named: Pick<ApiKeyRow, "id"> = { id },
): readonly AuditEntry[] {
  const details = {
    name,
    prefix,
    scopes,
    workspaces: workspaceIds.length,
    expiresAt: expiresAt?.toISOString(),
    revokedWith: named.id === id ? undefined : named.id,
  };
  const subject = { type: "key", id } as const;
  return workspaceIds.map((workspaceId) => ({ action, subject, workspaceId, details }));
}

export function toAccountAudit(
  action: Extract<AuditEntry["action"], `account.${string}`>,
  { workspaceId, accountId }: { readonly workspaceId: string; readonly accountId: string },
  details: NonNullable<AuditEntry["details"]>,
): AuditEntry {
  return { action, subject: { type: "account", id: accountId }, workspaceId, details };
}

export interface AuditedAuthorization {
  readonly id: string;
  readonly workspaceId: string;
  readonly platform: string;
}

/** The person who opened a connect link, whom only the link identifies. */
export function connectLinkActor({ id }: Pick<AuditedAuthorization, "id">) {
  return { kind: "connect_link", id } as const;
}

export function toAuthorizationAudit(
  action: Extract<AuditEntry["action"], `authorization.${string}`>,
  authorization: AuditedAuthorization,
  outcome?: string,
): AuditEntry {
  const { id, workspaceId, platform } = authorization;
  const entry = {
    action,
    subject: { type: "authorization", id },
    workspaceId,
    details: { platform, outcome },
  } as const;
  // An operator, a key or a session issues the connect link. The person with the link does
  // everything after that.
  if (action === "authorization.issue") return entry;
  return { ...entry, actor: connectLinkActor(authorization) };
}
