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

/** Returns the audit entry for a change of an account. */
export function toAccountAudit(
  action: Extract<AuditEntry["action"], `account.${string}`>,
  { workspaceId, accountId }: { readonly workspaceId: string; readonly accountId: string },
  details: NonNullable<AuditEntry["details"]>,
): AuditEntry {
  return { action, subject: { type: "account", id: accountId }, workspaceId, details };
}

/** The values of an authorization that its audit entries contain. */
export interface AuditedAuthorization {
  readonly id: string;
  readonly workspaceId: string;
  readonly platform: string;
}

/** Returns who connects accounts through a connect link: the person who opened the link, whom only the link identifies. */
export function connectLinkActor({ id }: Pick<AuditedAuthorization, "id">) {
  return { kind: "connect_link", id } as const;
}

/** Returns the audit entry about an authorization whose connect link was issued or opened, or which has ended. */
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
  // An operator issues the connect link, and the person with the link does everything after that.
  if (action === "authorization.issue") return entry;
  return { ...entry, actor: connectLinkActor(authorization) };
}
