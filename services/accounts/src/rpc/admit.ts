import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  AdmissionQuery,
  AdmitRequest,
  AdmitResponseSchema,
} from "@postrider/contracts/accounts/v1/admission_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId, NIL_ID } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import {
  insertBudgets,
  takeRequests,
  type AdmissionRow,
  type BudgetQuery,
} from "#src/db/request-budgets.ts";
import { DEFAULT_REQUESTS_PER_MINUTE } from "#src/domain/limits.ts";
import { shareGrant } from "#src/domain/share-grant.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";
import { toAdmissionGrant } from "#src/rpc/to-admission-grant.ts";

const MAX_QUERIES = 500;
/** Maximum number of requests in one admission query. The limit keeps the sum of a batch within an SQL `int`. */
const MAX_REQUESTS_PER_QUERY = 1_000_000;

function clampRequests(requests: number): number {
  return Math.min(Math.max(requests, 0), MAX_REQUESTS_PER_QUERY);
}

function toBudgetQuery({ keyHash, workspaceId, want, giveBack }: AdmissionQuery): BudgetQuery {
  // No workspace has this id, so only a query with a malformed id is refused and not its whole batch.
  const named = workspaceId === undefined || isId(workspaceId) ? workspaceId : NIL_ID;
  return {
    hash: Buffer.from(keyHash).toString("hex"),
    workspaceId: named ?? null,
    want: clampRequests(want),
    giveBack: clampRequests(giveBack),
  };
}

function lacksBucket({ workspaceId, granted }: AdmissionRow): boolean {
  return workspaceId !== null && granted === null;
}

/**
 * Takes requests from the workspaces' request budgets (token buckets) for a batch of admission queries. Buckets that do
 * not exist yet are inserted, and a second statement takes the requests from them.
 */
async function takeFromBuckets(
  sql: Sql,
  queries: readonly BudgetQuery[],
): Promise<readonly AdmissionRow[]> {
  const rows = await takeRequests(sql, queries, DEFAULT_REQUESTS_PER_MINUTE);
  const missing = rows.filter(lacksBucket);
  if (missing.length === 0) return rows;
  const workspaceIds = new Set(missing.map((row) => row.workspaceId ?? NIL_ID));
  await insertBudgets(sql, [...workspaceIds], DEFAULT_REQUESTS_PER_MINUTE);
  const again = missing.flatMap((row) => queries[row.position] ?? []);
  const rowsOfAgain = await takeRequests(sql, again, DEFAULT_REQUESTS_PER_MINUTE);
  const later = rowsOfAgain.map((row) => ({
    ...row,
    position: missing[row.position]?.position ?? 0,
  }));
  return [...rows.filter((row) => !lacksBucket(row)), ...later];
}

/**
 * Returns how many of the requests that were granted to a workspace each of its admission queries gets, by the position
 * of the query in the batch.
 */
function shareGrants(
  rows: readonly AdmissionRow[],
  queries: readonly BudgetQuery[],
): ReadonlyMap<number, number> {
  const shares = new Map<number, number>();
  for (const group of Map.groupBy(rows, (row) => row.workspaceId).values()) {
    const wants = group.map((row) => queries[row.position]?.want ?? 0);
    const granted = shareGrant(group[0]?.granted ?? 0, wants);
    group.forEach((row, index) => shares.set(row.position, granted[index] ?? 0));
  }
  return shares;
}

/**
 * Answers a batch of admission queries. Every REST request depends on this call, so one statement resolves the API keys
 * and request budgets of the whole batch.
 */
export async function admit(
  { sql, noteKeyUse }: Pick<Dependencies, "sql" | "noteKeyUse">,
  request: AdmitRequest,
): Promise<MessageInitShape<typeof AdmitResponseSchema>> {
  if (request.queries.length > MAX_QUERIES)
    throw invalidRequest([{ code: "too_many", path: "/queries" }]);
  const queries = request.queries.map(toBudgetQuery);
  const rows = await takeFromBuckets(sql, queries);
  const shares = shareGrants(rows, queries);
  const rowByPosition = new Map(rows.map((row) => [row.position, row]));
  for (const row of rows) if (row.isUseStale) noteKeyUse(row.keyId);
  return {
    grants: queries.map((_, position) =>
      toAdmissionGrant(rowByPosition.get(position), shares.get(position) ?? 0),
    ),
  };
}
