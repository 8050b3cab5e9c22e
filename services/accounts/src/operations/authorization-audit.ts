import type { AuditEntry } from "@postrider/shared/audit/append";

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
