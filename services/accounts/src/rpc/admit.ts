import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  AdmissionAnswerSchema,
  AdmissionQuery,
  AdmitRequest,
  AdmitResponseSchema,
  WorkspaceGrantSchema,
} from "@postrider/contracts/accounts/v1/admission_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId, NIL_ID } from "@postrider/shared/ids";
import { listImportedCells } from "#src/db/api-keys.ts";
import { takeRequests, type AdmissionRow, type BudgetQuery } from "#src/db/request-budgets.ts";
import { DEFAULT_REQUESTS_PER_MINUTE } from "#src/domain/limits.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

const MAX_QUERIES = 500;
/** Keeps the sum of what a batch wants within an SQL `int`. */
const MAX_WANT = 1_000_000;

function toBudgetQuery(
  { keyHash, workspaceId, want, session }: AdmissionQuery,
  position: number,
): BudgetQuery {
  // No workspace has this id, so only a query with a malformed id is refused and not its whole
  // batch.
  const named = workspaceId === undefined || isId(workspaceId) ? workspaceId : NIL_ID;
  return {
    position,
    hash: Buffer.from(keyHash).toString("hex"),
    workspaceId: named ?? null,
    isSession: session,
    want: Math.min(Math.max(want, 0), MAX_WANT),
  };
}

function toAnswer(row: AdmissionRow | undefined): MessageInitShape<typeof AdmissionAnswerSchema> {
  if (row === undefined) return {};
  const { keyId, sessionId, scopes, workspaceIds, expiresAt } = row;
  return {
    key: {
      id: keyId ?? "",
      scopes: [...scopes],
      workspaceIds: [...workspaceIds],
      ...(expiresAt === null ? {} : { expiresAt: timestampFromDate(expiresAt) }),
      ...(sessionId === null ? {} : { sessionId }),
    },
  };
}

function toGrant(
  budget: NonNullable<AdmissionRow["budget"]>,
): MessageInitShape<typeof WorkspaceGrantSchema> {
  const { id, verified, isFrozen, movedTo, isImporting, requestsPerMinute } = budget;
  const tokens = budget.tokens ?? 0;
  return {
    id,
    verified,
    isFrozen,
    movedTo: movedTo ?? "",
    isImporting,
    requestsPerMinute,
    granted: budget.granted ?? 0,
    remaining: Math.floor(tokens),
    emptyForMs: tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 60_000) / requestsPerMinute),
  };
}

/**
 * Answers a batch of admission queries. Every REST request depends on this call, so one statement
 * resolves the API keys, sessions and request budgets of the whole batch.
 */
export async function admit(
  { sql, noteKeyUse, sessionLimits }: Pick<Dependencies, "sql" | "noteKeyUse" | "sessionLimits">,
  request: AdmitRequest,
): Promise<MessageInitShape<typeof AdmitResponseSchema>> {
  if (request.queries.length > MAX_QUERIES)
    throw invalidRequest([{ code: "too_many", path: "/queries" }]);
  const queries = request.queries.map(toBudgetQuery);
  const rows = await takeRequests(sql, queries, {
    defaultPerMinute: DEFAULT_REQUESTS_PER_MINUTE,
    ...sessionLimits,
  });
  for (const row of rows) if (row.isUseStale) noteKeyUse(row.sessionId ?? row.keyId ?? "");
  const rowAt = new Map(rows.map((row) => [row.position, row]));
  const budgets = new Map(rows.flatMap(({ budget }) => (budget ? [[budget.id, budget]] : [])));
  const unknown = request.queries.filter((_query, position) => !rowAt.has(position));
  const cells = [...new Set(unknown.map(({ cell }) => cell))].filter((cell) => cell !== "");
  return {
    knownCells: cells.length === 0 ? [] : [...(await listImportedCells(sql, cells))],
    answers: queries.map(({ position }) => toAnswer(rowAt.get(position))),
    workspaces: [...budgets.values()].map(toGrant),
  };
}
