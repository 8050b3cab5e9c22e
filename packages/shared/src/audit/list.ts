import type { ISql } from "#src/postgres.ts";
import type { AuditAction } from "./actions.ts";

export interface AuditRow {
  readonly id: string;
  readonly at: Date;
  readonly workspaceId: string | null;
  readonly actorKind: string;
  readonly actorId: string;
  readonly actorName: string | null;
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

/** Lists a page of the audit log of a service. Each filter has an index in the order of the result. */
export async function listAudit(sql: ISql, query: AuditQuery): Promise<readonly AuditRow[]> {
  const { workspaceId, action, since, before, after, newestFirst } = query;
  const afterAt = after?.at.toISOString() ?? null;
  const [order, beyond] = newestFirst ? [sql`desc`, sql`<`] : [sql`asc`, sql`>`];
  return await sql<AuditRow[]>`
    select id, at, workspace_id, actor_kind, actor_id, actor_name, action, subject_type, subject_id,
      details::text as details, request_id, source_address
    from audit_log
    where true
    ${workspaceId === undefined ? sql`` : sql`and workspace_id = ${workspaceId}`}
    ${action === undefined ? sql`` : sql`and action = ${action}`}
    ${since === undefined ? sql`` : sql`and at >= ${since.toISOString()}::timestamptz`}
    ${before === undefined ? sql`` : sql`and at < ${before.toISOString()}::timestamptz`}
    ${after === undefined ? sql`` : sql`and (at, id) ${beyond} (${afterAt}::timestamptz, ${after.id}::uuid)`}
    order by at ${order}, id ${order}
    limit ${query.limit}`;
}
