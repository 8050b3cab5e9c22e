import type { ISql } from "#src/postgres.ts";
import type { AuditAction } from "./actions.ts";

export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly workspaceId: string | null;
  readonly actorKind: string;
  readonly actorId: string;
  readonly actorName: string | null;
  /** `rest`, `mcp` or `dashboard`; null for changes of others. */
  readonly via: string | null;
  readonly action: string;
  readonly subjectType: string;
  readonly subjectId: string;
  readonly details: string;
  readonly requestId: string | null;
  readonly sourceAddress: string | null;
}

export interface AuditQuery {
  readonly workspaceId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly since?: Date | undefined;
  readonly before?: Date | undefined;
  readonly after?: { readonly at: Date; readonly id: string } | undefined;
  readonly newestFirst: boolean;
  readonly limit: number;
}

/**
 * The filters by workspace and by actor, and a list without filters, have an index in the order of
 * the result.
 */
export async function listAudit(sql: ISql, query: AuditQuery): Promise<readonly AuditRow[]> {
  const order = query.newestFirst ? sql`desc` : sql`asc`;
  return await sql<AuditRow[]>`
    select id, at, workspace_id, actor_kind, actor_id, actor_name, via, action, subject_type, subject_id,
      details::text as details, request_id, source_address
    from (
      (${pageOf(sql, "audit_log", query)})
      union all
      (${pageOf(sql, "audit_log_deeds", query)})
    ) as entry
    order by at ${order}, id ${order}
    limit ${query.limit}`;
}

function pageOf(sql: ISql, table: "audit_log" | "audit_log_deeds", query: AuditQuery) {
  const { workspaceId, actorId, action, since, before, after, newestFirst } = query;
  const afterAt = after?.at.toISOString() ?? null;
  const [order, beyond] = newestFirst ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`];
  return sql`
    select id, at, workspace_id, actor_kind, actor_id, actor_name, via, action, subject_type, subject_id, details,
      request_id, source_address
    from ${sql(table)}
    where true
    ${workspaceId === undefined ? sql`` : sql`and workspace_id = ${workspaceId}`}
    ${actorId === undefined ? sql`` : sql`and actor_id = ${actorId}`}
    ${action === undefined ? sql`` : sql`and action = ${action}`}
    ${since === undefined ? sql`` : sql`and at >= ${since.toISOString()}::timestamptz`}
    ${before === undefined ? sql`` : sql`and at < ${before.toISOString()}::timestamptz`}
    ${after === undefined ? sql`` : sql`and (at, id) ${beyond} (${afterAt}::timestamptz, ${after.id}::uuid)`}
    order by at ${order}, id ${order}
    limit ${query.limit}`;
}
