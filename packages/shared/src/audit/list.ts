import type { ISql } from "#src/postgres.ts";
import type { AuditAction } from "./actions.ts";

export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly workspaceId: string | null;
  readonly actorKind: string;
  readonly actorId: string;
  readonly actorName: string | null;
  /** The interface that a client's request used: `rest`, `mcp` or `dashboard`; null for changes of others. */
  readonly via: string | null;
  readonly action: string;
  readonly subjectType: string;
  readonly subjectId: string;
  /** Details of the audit entry: a JSON object as text. */
  readonly details: string;
  readonly requestId: string | null;
  readonly sourceAddress: string | null;
}

export interface AuditQuery {
  readonly workspaceId?: string | undefined;
  /** Only changes that this API key, process or authorization made. */
  readonly actorId?: string | undefined;
  readonly action?: AuditAction | undefined;
  /** Only audit entries of changes at this time or later. */
  readonly since?: Date | undefined;
  /** Only audit entries of changes before this time. */
  readonly before?: Date | undefined;
  /** The last audit entry of the previous page; undefined for the first page. */
  readonly after?: { readonly at: Date; readonly id: string } | undefined;
  readonly newestFirst: boolean;
  readonly limit: number;
}

/**
 * Lists a page of the audit log of a service, with the deeds of clients. The filters by workspace and by actor, and a list
 * without filters, have an index in the order of the result.
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

/** Returns the SQL that selects the first rows of one table that match the query. */
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
