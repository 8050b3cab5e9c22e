import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  AdmissionGrantSchema,
  AdmissionQuery,
  AdmitRequest,
  AdmitResponseSchema,
} from "@postrider/contracts/accounts/v1/admission_service_pb";
import { invalidRequest } from "@postrider/shared/errors";
import { isId } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import {
  insertBudgets,
  takeRequests,
  type AdmissionRow,
  type BudgetQuery,
} from "#src/db/request-budgets.ts";
import { DEFAULT_REQUESTS_PER_MINUTE } from "#src/domain/limits.ts";
import { emptyForMs, shareGrant } from "#src/domain/share-grant.ts";
import type { Deps } from "#src/operations/dependencies.ts";

type Grant = MessageInitShape<typeof AdmissionGrantSchema>;

const MAX_QUERIES = 500;
/** How long the gateway may use an answer: revoking a key, or a new limit, is felt everywhere within 5 s. */
const TTL_MS = 3_000;
/** More than any bucket pays out at once; keeps sums within an int. */
const MOST = 1_000_000;
/** No workspace has it: what is no id must not fail the batch. */
const NIL = "00000000-0000-0000-0000-000000000000";

function toBudgetQuery({ keyHash, workspaceId, want, giveBack }: AdmissionQuery): BudgetQuery {
  const named = workspaceId === undefined || isId(workspaceId) ? workspaceId : NIL;
  return {
    hash: Buffer.from(keyHash).toString("hex"),
    workspaceId: named ?? null,
    want: Math.min(Math.max(want, 0), MOST),
    giveBack: Math.min(Math.max(giveBack, 0), MOST),
  };
}

/** Asks once, and once more for workspaces whose bucket had to be made first. */
async function takeFromBuckets(
  sql: Sql,
  queries: readonly BudgetQuery[],
): Promise<readonly AdmissionRow[]> {
  const rows = await takeRequests(sql, queries, DEFAULT_REQUESTS_PER_MINUTE);
  const without = rows.filter((row) => row.workspaceId !== null && row.granted === null);
  if (without.length === 0) return rows;
  const workspaceIds = new Set(without.map((row) => row.workspaceId ?? NIL));
  await insertBudgets(sql, [...workspaceIds], DEFAULT_REQUESTS_PER_MINUTE);
  const again = without.flatMap((row) => queries[row.position] ?? []);
  const found = await takeRequests(sql, again, DEFAULT_REQUESTS_PER_MINUTE);
  const later = found.map((row) => ({ ...row, position: without[row.position]?.position ?? 0 }));
  return [...rows.filter((row) => !without.includes(row)), ...later];
}

/** What each question gets of what its workspace got, by the question's place in the batch. */
function shareOut(
  rows: readonly AdmissionRow[],
  queries: readonly BudgetQuery[],
): ReadonlyMap<number, number> {
  const shares = new Map<number, number>();
  for (const group of Map.groupBy(rows, (row) => row.workspaceId).values()) {
    const wants = group.map((row) => queries[row.position]?.want ?? 0);
    const given = shareGrant(group[0]?.granted ?? 0, wants);
    group.forEach((row, index) => shares.set(row.position, given[index] ?? 0));
  }
  return shares;
}

function toGrant(row: AdmissionRow | undefined, granted: number): Grant {
  if (row === undefined) return { ttlMs: TTL_MS };
  const { keyId, scopes, workspaceCount, expiresAt, workspaceId } = row;
  const key = {
    id: keyId,
    scopes: [...scopes],
    workspaceCount,
    ...(expiresAt === null ? {} : { expiresAt: timestampFromDate(expiresAt) }),
  };
  if (workspaceId === null) return { key, ttlMs: TTL_MS };
  const requestsPerMinute = row.requestsPerMinute ?? DEFAULT_REQUESTS_PER_MINUTE;
  const tokens = row.tokens ?? 0;
  return {
    key,
    workspace: { id: workspaceId, verified: row.verified ?? false, requestsPerMinute },
    granted,
    remaining: Math.floor(tokens),
    emptyForMs: emptyForMs(tokens, requestsPerMinute),
    ttlMs: TTL_MS,
  };
}

export async function admit(
  { sql, noteKeyUse }: Pick<Deps, "sql" | "noteKeyUse">,
  request: AdmitRequest,
): Promise<MessageInitShape<typeof AdmitResponseSchema>> {
  if (request.queries.length > MAX_QUERIES)
    throw invalidRequest([{ code: "too_many", path: "/queries" }]);
  const queries = request.queries.map(toBudgetQuery);
  const rows = await takeFromBuckets(sql, queries);
  const shares = shareOut(rows, queries);
  const byPosition = new Map(rows.map((row) => [row.position, row]));
  for (const row of rows) if (row.isUseStale) noteKeyUse(row.keyId);
  return {
    grants: queries.map((_, position) =>
      toGrant(byPosition.get(position), shares.get(position) ?? 0),
    ),
  };
}
