import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampDate, timestampFromDate, type Timestamp } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type {
  AuditEntrySchema,
  AuditService,
  ListAuditEntriesRequest,
} from "@postrider/contracts/operations/v1/audit_service_pb";
import { invalidRequest, type Violation } from "#src/errors.ts";
import { isId } from "#src/ids.ts";
import type { Sql } from "#src/postgres.ts";
import { isAuditAction } from "./actions.ts";
import { listAudit, type AuditQuery, type AuditRow } from "./list.ts";

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
