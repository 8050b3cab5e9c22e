import type { ISql } from "#src/postgres.ts";
import { findContext } from "#src/telemetry/request-context.ts";
import { requestOf } from "./actor.ts";
import { auditColumns, toAuditRecord, type AuditEntry } from "./append.ts";

export type Deed = AuditEntry;

/** With the actor, interface and address of the current request, as `deedInsert` reads it. */
export function toDeedRecord(deed: Deed) {
  const { requestId, address } = requestOf(findContext());
  return { ...toAuditRecord(deed), request_id: requestId, source_address: address };
}

/** SQL for a step of a larger statement. `source` has a column `deed` of `toDeedRecord`. */
export function deedInsert(sql: ISql, source: ReturnType<ISql>) {
  return sql`
    insert into audit_log_deeds (${auditColumns(sql)})
    select
      deed.id, deed.workspace_id, deed.actor_kind, coalesce(deed.actor_id, current_schema()), deed.actor_name, deed.via,
      deed.action, deed.subject_type, deed.subject_id, deed.details, deed.request_id, deed.source_address
    from (${source}) as source, jsonb_to_record(source.deed) as deed (
      id uuid, workspace_id uuid, actor_kind text, actor_id text, actor_name text, via text, action text,
      subject_type text, subject_id text, details jsonb, request_id text, source_address text
    )`;
}

export async function appendDeed(sql: ISql, deed: Deed): Promise<void> {
  await deedInsert(sql, sql`select ${sql.json(toDeedRecord(deed))}::jsonb as deed`);
}
