import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  CreateBackfillResponseSchema,
  type CreateBackfillRequest,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { notFound, unavailable } from "@postrider/shared/errors";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { findReplay, takeKeyOrReplay } from "@postrider/shared/postgres/idempotency";
import { insertResults } from "#src/engagement/db/backfill-results.ts";
import { insertBackfill } from "#src/engagement/db/backfills.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/automation-rpc-dependencies.ts";
import {
  createJob,
  toBackfill,
  toBackfillItem,
  toResults,
} from "#src/engagement/operations/backfill-pages.ts";
import { getLiveRule } from "#src/engagement/operations/get-live-rule.ts";
import { readPastComments } from "#src/engagement/operations/read-past-comments.ts";
import { toKeyed } from "#src/engagement/operations/to-keyed.ts";

type Response = MessageInitShape<typeof CreateBackfillResponseSchema>;

/**
 * Creates a backfill job and stores the results of its first page of past comments. It reads this page before it stores
 * anything, so that nothing is stored when the platform fails. It sends nothing.
 */
export async function createBackfill(
  deps: AutomationRpcDeps,
  request: CreateBackfillRequest,
): Promise<Response> {
  const { workspaceId, ruleId, mediaId } = request;
  const rule = await getLiveRule(deps.sql, { workspaceId, ruleId, mediaId });
  const keyed = toKeyed("CreateBackfill", request);
  const earlier = keyed === undefined ? undefined : await findReplay(deps.sql, keyed);
  if (earlier !== undefined) return toReplay(earlier);
  const page = await readPastComments(deps, rule, { mediaId, after: undefined });
  if (page.kind === "missing") throw notFound();
  if (page.kind === "refused") throw unavailable();
  const job = createJob(rule, mediaId, page);
  const results = page.items.map(toBackfillItem);
  const response = { backfill: toBackfill(job), results, replayed: false };
  return await beginInTurn(deps.sql, workspaceId, async (tx): Promise<Response> => {
    if (keyed !== undefined) {
      const message = create(CreateBackfillResponseSchema, response);
      const stored = toBinary(CreateBackfillResponseSchema, message);
      const replay = await takeKeyOrReplay(tx, keyed, stored);
      if (replay !== undefined) return toReplay(replay);
    }
    await insertBackfill(tx, job);
    const subject = { type: "backfill", id: job.id } as const;
    await appendDeed(tx, { action: "backfill.create", subject, workspaceId });
    await insertResults(tx, { id: job.id, workspaceId, from: 0 }, toResults(page.items));
    return response;
  });
}

function toReplay(stored: Uint8Array): Response {
  return { ...fromBinary(CreateBackfillResponseSchema, stored), replayed: true };
}
