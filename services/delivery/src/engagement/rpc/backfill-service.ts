import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import {
  type BackfillItemSchema,
  type CreateBackfillRequest,
  CreateBackfillResponseSchema,
  type UpdateBackfillRequest,
  type UpdateBackfillResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { CommentSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import {
  conflict,
  invalidRequest,
  notFound,
  unavailable,
  wrongStatus,
} from "@postrider/shared/errors";
import { assertIds } from "@postrider/shared/ids";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { findReplay, takeKeyOrReplay } from "@postrider/shared/postgres/idempotency";
import { failpoint } from "@postrider/shared/process/failpoints";
import {
  type CursorKeys,
  encodeCursor,
  requireCursor,
} from "@postrider/shared/secrets/list-cursor";
import { findRule } from "#src/engagement/db/automation-rules.ts";
import {
  type BackfillRow,
  type BackfillStatus,
  deleteOldBackfills,
  insertBackfill,
  insertResults,
  listResults,
  lockBackfill,
  setBackfillStatus,
} from "#src/engagement/db/backfills.ts";
import {
  createJob,
  storePage,
  toBackfill,
  toBackfillItem,
  toResults,
} from "#src/engagement/operations/backfill-pages.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/dependencies.ts";
import {
  type PastPage,
  type PastRefusal,
  readPastComments,
} from "#src/engagement/operations/read-past-comments.ts";
import { getLiveRule, toKeyed } from "#src/engagement/rpc/parse-automation-request.ts";

const DEFAULT_LIMIT = 20;
/** Per page, and the default when a request does not name a number. */
const MAX_RESULTS = 100;

interface ResultPage {
  readonly results: MessageInitShape<typeof BackfillItemSchema>[];
  readonly nextCursor?: string;
}

export async function readResults(
  { sql, cursorKeys }: { readonly sql: ISql; readonly cursorKeys: CursorKeys },
  { id, workspaceId }: Pick<BackfillRow, "id" | "workspaceId">,
  { limit, cursor }: { readonly limit: number; readonly cursor: string },
): Promise<ResultPage> {
  if (limit < 0 || limit > MAX_RESULTS) throw invalidRequest([{ code: "invalid", path: "/limit" }]);
  const size = limit === 0 ? DEFAULT_LIMIT : limit;
  const scope = ["backfill results", workspaceId, id];
  // A cursor carries a time and an id. Results are ordered by a number, so the cursor carries that
  // number in place of the time.
  const after = cursor === "" ? -1 : requireCursor(cursorKeys, scope, cursor).at.getTime();
  const rows = await listResults(sql, { id, workspaceId }, { limit: size, after });
  const shown = rows.slice(0, size);
  const last = rows.length > shown.length ? shown.at(-1) : undefined;
  return {
    results: shown.map(({ comment, outcome, reason }) => ({
      comment: fromBinary(CommentSchema, comment),
      outcome,
      ...(reason === null ? {} : { reason }),
    })),
    ...(last === undefined
      ? {}
      : { nextCursor: encodeCursor(cursorKeys, scope, { at: new Date(last.position), id }) }),
  };
}

type CreateResponse = MessageInitShape<typeof CreateBackfillResponseSchema>;

/** Reads the first page before it stores anything: nothing is stored if the platform fails. */
export async function createBackfill(
  deps: AutomationRpcDeps,
  request: CreateBackfillRequest,
): Promise<CreateResponse> {
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
  return await beginInTurn(deps.sql, workspaceId, async (tx): Promise<CreateResponse> => {
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
): Promise<CreateResponse> {
  const { backfill } = fromBinary(CreateBackfillResponseSchema, stored);
  const limit = Number(backfill?.counts?.scanned ?? 0);
  if (backfill === undefined || limit === 0) return { backfill, results: [], replayed: true };
  const job = { id: backfill.id, workspaceId };
  const { results } = await readResults(deps, job, { limit, cursor: "" });
  return { backfill, results, replayed: true };
}

/**
 * Longer than a request waits for the platform: then the process that prepared the page has
 * probably crashed, and the page can be prepared again.
 */
const PREPARING_MS = 30_000;

/** Sends nothing. */
export async function updateBackfill(
  deps: AutomationRpcDeps,
  { workspaceId, backfillId, action }: UpdateBackfillRequest,
): Promise<MessageInitShape<typeof UpdateBackfillResponseSchema>> {
  assertIds(workspaceId, backfillId);
  const change = CHANGES[action];
  if (change === undefined) throw invalidRequest([{ code: "invalid", path: "/action" }]);
  const changed = await beginInTurn(deps.sql, workspaceId, async (tx) => {
    const job = await lockBackfill(tx, workspaceId, backfillId);
    if (job === undefined) throw notFound();
    const subject = { type: "backfill", id: backfillId } as const;
    await appendDeed(tx, { action: "backfill.update", subject, workspaceId, details: { action } });
    return await change(tx, job);
  });
  const job = action === "prepare_next_page" ? await preparePage(deps, changed) : changed;
  const results = await readResults(deps, job, { limit: MAX_RESULTS, cursor: "" });
  return { backfill: toBackfill(job), ...results };
}

type Change = (tx: TransactionSql, job: BackfillRow) => Promise<BackfillRow>;

function changeFrom(
  from: readonly BackfillStatus[],
  to: BackfillStatus,
  preparingMs?: number,
): Change {
  return async (tx, job) => {
    if (!from.includes(job.status)) throw wrongStatus(job.status, from);
    return await setBackfillStatus(tx, job, to, preparingMs);
  };
}

const CHANGES: Readonly<Record<string, Change>> = {
  prepare_next_page: changeFrom(["ready"], "preparing", PREPARING_MS),
  pause: changeFrom(["preparing", "ready"], "paused"),
  resume: changeFrom(["paused"], "ready"),
};

/** For a job that this request has set to `preparing`. */
async function preparePage(deps: AutomationRpcDeps, job: BackfillRow): Promise<BackfillRow> {
  const { workspaceId, ruleId, mediaId, pageCursor } = job;
  failpoint("delivery.backfill-preparing");
  try {
    const rule = await findRule(deps.sql, workspaceId, ruleId);
    if (rule === undefined || rule.status === "revoked") throw conflict("invalid_transition");
    const page = await readPastComments(deps, rule, { mediaId, after: pageCursor ?? undefined });
    return await endPage(deps, job, page);
  } catch (error) {
    await endPage(deps, job, undefined);
    throw error;
  }
}

/**
 * Stores what preparing a page of a backfill job returned: results, a permanent refusal, or
 * nothing, after which the page can be prepared again. A page that another request has stored in
 * the meantime is not stored twice.
 */
async function endPage(
  { sql }: Pick<AutomationRpcDeps, "sql">,
  { id, workspaceId, pages }: BackfillRow,
  page: PastPage | PastRefusal | undefined,
): Promise<BackfillRow> {
  return await beginInTurn(sql, workspaceId, async (tx) => {
    const job = await lockBackfill(tx, workspaceId, id);
    if (job === undefined) throw notFound();
    if (job.pages !== pages) return job;
    if (page?.kind === "page") return await storePage(tx, job, page);
    if (page !== undefined) return await setBackfillStatus(tx, job, "failed");
    return job.status === "preparing" ? await setBackfillStatus(tx, job, "ready") : job;
  });
}
