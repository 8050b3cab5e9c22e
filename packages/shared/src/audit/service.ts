import type { MessageInitShape } from "@bufbuild/protobuf";
import { type Timestamp, timestampDate, timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  AuditEntrySchema,
  AuditService,
  ListAuditEntriesRequest,
} from "@postrider/contracts/operations/v1/audit_service_pb";
import { invalidRequest, type Violation } from "#src/errors.ts";
import { isId } from "#src/ids.ts";
import type { ISql, Sql } from "#src/postgres.ts";
import { type AuditAction, isAuditAction } from "./actions.ts";

const MAX_LIMIT = 1_000;

export function createAuditService({
  sql,
}: {
  readonly sql: Sql;
}): ServiceImpl<typeof AuditService> {
  return {
    async listAuditEntries(request) {
      const rows = await listAudit(sql, parseQuery(request));
      return { entries: rows.map(toEntry) };
    },
  };
}

/** @throws ServiceError `invalid_request` for an instant that JavaScript cannot hold. */
function parseInstant(value: Timestamp, path: string): Date {
  const instant = timestampDate(value);
  if (Number.isNaN(instant.getTime())) throw invalidRequest([{ code: "out_of_range", path }]);
  return instant;
}

function findInstant(value: Timestamp | undefined, path: string): Date | undefined {
  return value === undefined ? undefined : parseInstant(value, path);
}

function parseAfter({ after }: ListAuditEntriesRequest): AuditQuery["after"] {
  if (after === undefined) return undefined;
  if (after.at === undefined || !isId(after.id))
    throw invalidRequest([{ code: "invalid", path: "/after" }]);
  return { at: parseInstant(after.at, "/after/at"), id: after.id };
}

function parseQuery(request: ListAuditEntriesRequest): AuditQuery {
  const { workspaceId, actorId, action, since, before, newestFirst, limit } = request;
  const violations: Violation[] = [];
  if (workspaceId !== undefined && !isId(workspaceId))
    violations.push({ code: "invalid_id", path: "/workspaceId" });
  const known = action !== undefined && isAuditAction(action) ? action : undefined;
  if (known !== action) violations.push({ code: "unknown_action", path: "/action" });
  if (limit < 1 || limit > MAX_LIMIT) violations.push({ code: "out_of_range", path: "/limit" });
  if (violations.length > 0) throw invalidRequest(violations);
  return {
    workspaceId,
    actorId,
    action: known,
    since: findInstant(since, "/since"),
    before: findInstant(before, "/before"),
    after: parseAfter(request),
    newestFirst,
    limit,
  };
}

function toEntry(row: AuditRow): MessageInitShape<typeof AuditEntrySchema> {
  const { id, at, workspaceId, actorName, via, action, subjectType, subjectId, details } = row;
  const { requestId, sourceAddress } = row;
  return {
    id,
    at: timestampFromDate(at),
    actor: {
      kind: row.actorKind,
      id: row.actorId,
      ...(actorName === null ? {} : { name: actorName }),
    },
    action,
    subjectType,
    subjectId,
    details,
    ...(workspaceId === null ? {} : { workspaceId }),
    ...(via === null ? {} : { via }),
    ...(requestId === null ? {} : { requestId }),
    ...(sourceAddress === null ? {} : { sourceAddress }),
  };
}

interface AuditRow {
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

interface AuditQuery {
  readonly workspaceId?: string | undefined;
  readonly actorId?: string | undefined;
  readonly action?: AuditAction | undefined;
  readonly since?: Date | undefined;
  readonly before?: Date | undefined;
  readonly after?: { readonly at: Date; readonly id: string } | undefined;
  readonly newestFirst: boolean;
  readonly limit: number;
}

/** Filters by workspace and actor, and no filters, have an index in the order of the result. */
async function listAudit(sql: ISql, query: AuditQuery): Promise<readonly AuditRow[]> {
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
