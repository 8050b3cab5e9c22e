import type { MessageInitShape } from "@bufbuild/protobuf";
import type {
  UpdateBackfillRequest,
  UpdateBackfillResponseSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { appendDeed } from "@postrider/shared/audit/deeds";
import { conflict, invalidRequest, notFound, wrongStatus } from "@postrider/shared/errors";
import type { TransactionSql } from "@postrider/shared/postgres";
import { beginInTurn } from "@postrider/shared/postgres/begin-in-turn";
import { failpoint } from "@postrider/shared/process/failpoints";
import { findRule } from "#src/engagement/db/automation-rules.ts";
import {
  lockBackfill,
  setBackfillStatus,
  type BackfillRow,
  type BackfillStatus,
} from "#src/engagement/db/backfills.ts";
import { storePage, toBackfill } from "#src/engagement/operations/backfill-pages.ts";
import type { AutomationRpcDeps } from "#src/engagement/operations/dependencies.ts";
import {
  readPastComments,
  type PastPage,
  type PastRefusal,
} from "#src/engagement/operations/read-past-comments.ts";
import { MAX_RESULTS, readResults } from "#src/engagement/operations/read-results.ts";
import { assertIds } from "./parse-automation-rule.ts";

/**
 * How long a page of past comments may be in preparation, in milliseconds. It is longer than a
 * request waits for the platform. After that time, the process that was preparing the page has
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
