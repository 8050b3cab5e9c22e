import { newId } from "#src/ids.ts";
import type { ISql, TransactionSql } from "#src/postgres.ts";
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

/** Maximum number of entries with one action that the clients of a workspace add in a UTC day. */
const MAX_DAILY_ENTRIES = 100;

/** The columns of `audit_log` and `audit_log_deeds`, except `at`. */
export function auditColumns(sql: ISql) {
  return sql`id, workspace_id, actor_kind, actor_id, actor_name, via, action, subject_type, subject_id, details,
    request_id, source_address`;
}

/**
 * In the transaction of the changes, so that both are committed or neither is. What clients do more
 * often than `MAX_DAILY_ENTRIES` is stored among the deeds, which are many and kept for less long.
 */
export async function appendAudit(
  tx: TransactionSql,
  entries: readonly AuditEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const { requestId, address } = requestOf(findContext());
  const rows = entries.map(toAuditRecord);
  const columns = auditColumns(tx);
  // The schema has the name of the service, which is the actor if no request made the change.
  await tx`
    with entry as materialized (
      select id, workspace_id, actor_kind, coalesce(actor_id, current_schema()) as actor_id, actor_name, via, action,
        subject_type, subject_id, details, ${requestId}::text as request_id, ${address}::text as source_address,
        actor_kind in ('key', 'session', 'connect_link') and ${MAX_DAILY_ENTRIES} <= (
          select count(*)
          from (
            select
            from audit_log as earlier
            where earlier.workspace_id = added.workspace_id
            and earlier.at >= date_trunc('day', now(), 'UTC')
            and earlier.action = added.action
            and earlier.actor_kind in ('key', 'session', 'connect_link')
            limit ${MAX_DAILY_ENTRIES}
          ) as today
        ) as is_frequent
      from jsonb_to_recordset(${tx.json(rows)})
        as added (id uuid, workspace_id uuid, actor_kind text, actor_id text, actor_name text, via text, action text,
          subject_type text, subject_id text, details jsonb)
    ),
    frequent as (
      insert into audit_log_deeds (${columns})
      select ${columns} from entry where is_frequent order by id
    )
    insert into audit_log (${columns})
    select ${columns} from entry where not is_frequent order by id`;
}
