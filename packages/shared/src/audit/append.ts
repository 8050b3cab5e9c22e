import { newId } from "#src/ids.ts";
import type { TransactionSql } from "#src/postgres.ts";
import { findContext } from "#src/telemetry/request-context.ts";
import type { AuditAction, AuditSubjectType } from "./actions.ts";
import { type AuditActor, requestOf, toStoredActor } from "./actor.ts";

/** Undefined fields are left out. */
type AuditValue =
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly string[]
  | { readonly [name: string]: AuditValue };

export interface AuditEntry {
  readonly action: AuditAction;
  readonly subject: { readonly type: AuditSubjectType; readonly id: string };
  /** Undefined for a change of the whole deployment. */
  readonly workspaceId?: string | undefined;
  /** Such as `before` and `after`. Never secrets, tokens, texts of posts or names of people. */
  readonly details?: { readonly [name: string]: AuditValue };
  /** Needed if the request context does not say it. */
  readonly actor?: AuditActor;
}

/** Adds who made the current request, and through which interface (REST, MCP, dashboard or CLI). */
export function toAuditRecord({ action, subject, workspaceId, details, actor }: AuditEntry) {
  const { kind, id, name, via } = toStoredActor(findContext(), actor);
  return {
    id: newId(),
    workspace_id: workspaceId ?? null,
    actor_kind: kind,
    actor_id: id,
    actor_name: name,
    via,
    action,
    subject_type: subject.type,
    subject_id: subject.id,
    details: details ?? {},
  };
}

/** In the transaction of the changes, so that both are committed or neither is. */
export async function appendAudit(
  tx: TransactionSql,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const { requestId, address } = requestOf(findContext());
  const rows = entries.map(toAuditRecord);
  // The schema has the name of the service, which is the actor if no request made the change.
  await tx`
    insert into audit_log (id, workspace_id, actor_kind, actor_id, actor_name, via, action,
      subject_type, subject_id, details, request_id, source_address)
    select id, workspace_id, actor_kind, coalesce(actor_id, current_schema()), actor_name, via, action,
      subject_type, subject_id, details, ${requestId}, ${address}
    from jsonb_to_recordset(${tx.json(rows)})
      as entry (id uuid, workspace_id uuid, actor_kind text, actor_id text, actor_name text, via text, action text,
        subject_type text, subject_id text, details jsonb)
    order by id`;
}
