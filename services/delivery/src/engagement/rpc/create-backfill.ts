import { create, fromBinary, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import {
  CreateBackfillResponseSchema,
  type CreateBackfillRequest,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { notFound, unavailable } from "@postrider/shared/errors";
import type { ISql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { findReplay, takeKeyOrReplay } from "@postrider/shared/postgres/idempotency";
import type { CursorKeys } from "@postrider/shared/secrets/list-cursor";
import { insertResults } from "#src/engagement/db/backfill-results.ts";
import { deleteOldBackfills, insertBackfill } from "#src/engagement/db/backfills.ts";
import {
  createJob,
  toBackfill,
  toBackfillItem,
  toResults,
} from "#src/engagement/operations/backfill-pages.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/dependencies.ts";
import { getLiveRule } from "#src/engagement/operations/get-live-rule.ts";
import { readPastComments } from "#src/engagement/operations/read-past-comments.ts";
import { readResults } from "#src/engagement/operations/read-results.ts";
import { toKeyed } from "#src/engagement/operations/to-keyed.ts";

type Response = MessageInitShape<typeof CreateBackfillResponseSchema>;

/** Reads the first page before it stores anything: nothing is stored if the platform fails. */
export async function createBackfill(
  deps: AutomationRpcDeps,
  request: CreateBackfillRequest,
): Promise<Response> {
  const { workspaceId, ruleId, mediaId } = request;
  const rule = await getLiveRule(deps.sql, { workspaceId, ruleId, mediaId });
  const keyed = toKeyed("CreateBackfill", request);
  const earlier = keyed === undefined ? undefined : await findReplay(deps.sql, keyed);
  if (earlier !== undefined) return await toReplay(deps, workspaceId, earlier);
  const page = await readPastComments(deps, rule, { mediaId, after: undefined });
  if (page.kind === "missing") throw notFound();
  if (page.kind === "refused") throw unavailable();
  const job = createJob(rule, mediaId, page);
  const results = page.items.map(toBackfillItem);
  const response = { backfill: toBackfill(job), results, replayed: false };
  return await beginInTurn(deps.sql, workspaceId, async (tx): Promise<Response> => {
    if (keyed !== undefined) {
      // The results are stored once, as those of the job.
      const message = create(CreateBackfillResponseSchema, { ...response, results: [] });
      const stored = toBinary(CreateBackfillResponseSchema, message);
      const replay = await takeKeyOrReplay(tx, keyed, stored);
      if (replay !== undefined) return await toReplay({ ...deps, sql: tx }, workspaceId, replay);
    }
    await insertBackfill(tx, job);
    const subject = { type: "backfill", id: job.id } as const;
    await appendDeed(tx, { action: "backfill.create", subject, workspaceId });
    await insertResults(tx, { id: job.id, workspaceId, from: 0 }, toResults(page.items));
    await deleteOldBackfills(tx, { workspaceId, keptId: job.id });
    return response;
  });
}

/** With the results of the first page, unless newer jobs have replaced this one. */
async function toReplay(
  deps: { readonly sql: ISql; readonly cursorKeys: CursorKeys },
  workspaceId: string,
  stored: Uint8Array,
): Promise<Response> {
  const { backfill } = fromBinary(CreateBackfillResponseSchema, stored);
  const limit = Number(backfill?.counts?.scanned ?? 0);
  if (backfill === undefined || limit === 0) return { backfill, results: [], replayed: true };
  const job = { id: backfill.id, workspaceId };
  const { results } = await readResults(deps, job, { limit, cursor: "" });
  return { backfill, results, replayed: true };
}
