import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BackfillItemSchema,
  BackfillSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { CommentSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import {
  addBackfillPage,
  BACKFILL_LIMITS,
  type BackfillResult,
  type BackfillRow,
  type BackfillStatus,
  deleteOldBackfills,
  insertResults,
} from "#src/engagement/db/backfills.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { PlannedItem } from "#src/engagement/domain/plan-runs.ts";
import type { PastPage } from "./read-past-comments.ts";
import { toComment } from "./read-platform.ts";

/** The first page has been read already. */
export function createJob(
  { id: ruleId, workspaceId, accountId }: AutomationRule,
  mediaId: string,
  { items, next, readAt }: PastPage,
): BackfillRow {
  const count = (wanted: PlannedItem["outcome"]) =>
    items.filter(({ outcome }) => outcome === wanted).length;
  return {
    id: newId(),
    workspaceId,
    accountId,
    ruleId,
    mediaId,
    status: next === undefined ? "completed" : "ready",
    pages: 1,
    pageCursor: next ?? null,
    prepared: count("prepared"),
    skipped: count("skipped"),
    unmatched: count("no_match"),
    bytes: sizeOf(toResults(items)),
    createdAt: readAt,
    updatedAt: readAt,
  };
}

/**
 * Stores a page of past comments with its results. Call it while the backfill job is locked. A job
 * that was paused in the meantime stays paused, unless this was its last page. A job whose results
 * take too much space fails, and keeps them.
 */
export async function storePage(
  tx: TransactionSql,
  job: BackfillRow,
  { items, next }: PastPage,
): Promise<BackfillRow> {
  const { id, workspaceId, prepared, skipped, unmatched } = job;
  const from = prepared + skipped + unmatched;
  const results = toResults(items);
  const bytes = sizeOf(results);
  const counts = await insertResults(tx, { id, workspaceId, from }, results);
  await deleteOldBackfills(tx, { workspaceId, keptId: id });
  return await addBackfillPage(tx, job, {
    status: next === undefined ? "completed" : statusForMore(job, bytes),
    pageCursor: next ?? null,
    counts,
    bytes,
  });
}

/** After a page of `bytes` bytes with which the comments do not end. */
function statusForMore(job: BackfillRow, bytes: number): BackfillStatus {
  if (job.bytes + bytes > BACKFILL_LIMITS.bytes) return "failed";
  return job.status === "paused" ? "paused" : "ready";
}

/** Approximate size of a row with its index entries, without the comment. */
const ROW_BYTES = 200;

function sizeOf(results: readonly BackfillResult[]): number {
  return results.reduce((sum, { comment }) => sum + ROW_BYTES + comment.length, 0);
}

export function toResults(items: readonly PlannedItem[]): readonly BackfillResult[] {
  return items.map(({ comment, outcome, reason }) => ({
    commentId: comment.id,
    comment: toBinary(CommentSchema, create(CommentSchema, toComment(comment))),
    outcome,
    reason,
  }));
}

export function toBackfillItem({
  comment,
  outcome,
  reason,
}: PlannedItem): MessageInitShape<typeof BackfillItemSchema> {
  return { comment: toComment(comment), outcome, ...(reason === null ? {} : { reason }) };
}

export function toBackfill(job: BackfillRow): MessageInitShape<typeof BackfillSchema> {
  const { id, ruleId, mediaId, status, prepared, skipped, unmatched } = job;
  const matched = prepared + skipped;
  return {
    id,
    ruleId,
    mediaId,
    status,
    counts: {
      scanned: BigInt(matched + unmatched),
      matched: BigInt(matched),
      prepared: BigInt(prepared),
      skipped: BigInt(skipped),
    },
    createdAt: timestampFromDate(job.createdAt),
    updatedAt: timestampFromDate(job.updatedAt),
  };
}

const PREVIEW_OUTCOMES = { prepared: "prepare", skipped: "skip", no_match: "no_match" } as const;

export function toPreviewItem(item: PlannedItem): MessageInitShape<typeof BackfillItemSchema> {
  return { ...toBackfillItem(item), outcome: PREVIEW_OUTCOMES[item.outcome] };
}
