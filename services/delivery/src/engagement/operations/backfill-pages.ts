import { create, toBinary, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BackfillItemSchema,
  BackfillSchema,
} from "@postrider/contracts/engagement/v1/automation_service_pb";
import { CommentSchema } from "@postrider/contracts/engagement/v1/comment_service_pb";
import { newId } from "@postrider/shared/ids";
import type { TransactionSql } from "@postrider/shared/postgres";
import { insertResults, type BackfillResult } from "#src/engagement/db/backfill-results.ts";
import { addBackfillPage, type BackfillRow } from "#src/engagement/db/backfills.ts";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";
import type { PlannedItem } from "#src/engagement/domain/plan-backfill.ts";
import type { PastPage } from "./read-past-comments.ts";
import { toComment } from "./to-comment.ts";

/** Returns a new backfill job with the counts of its first page of past comments, which has been read already. */
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
    createdAt: readAt,
    updatedAt: readAt,
  };
}

/**
 * Stores a page of past comments with its results. Call it while the backfill job is locked. A job that was paused in
 * the meantime stays paused, unless this was its last page.
 */
export async function storePage(
  tx: TransactionSql,
  job: BackfillRow,
  { items, next }: PastPage,
): Promise<BackfillRow> {
  const { id, workspaceId, prepared, skipped, unmatched } = job;
  const from = prepared + skipped + unmatched;
  const counts = await insertResults(tx, { id, workspaceId, from }, toResults(items));
  const more = job.status === "paused" ? "paused" : "ready";
  return await addBackfillPage(tx, job, {
    status: next === undefined ? "completed" : more,
    pageCursor: next ?? null,
    counts,
  });
}

export function toResults(items: readonly PlannedItem[]): readonly BackfillResult[] {
  return items.map(({ comment, outcome, reason }) => ({
    commentId: comment.id,
    comment: toBinary(CommentSchema, create(CommentSchema, toComment(comment))),
    outcome,
    reason,
  }));
}

/** Returns what an automation rule would do with a past comment, as a backfill job shows it. */
export function toBackfillItem({
  comment,
  outcome,
  reason,
}: PlannedItem): MessageInitShape<typeof BackfillItemSchema> {
  return { comment: toComment(comment), outcome, ...(reason === null ? {} : { reason }) };
}

/** Returns a backfill job as the RPCs show it to other services. */
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

/** Returns what an automation rule would do with a past comment, as a preview shows it. */
export function toPreviewItem(item: PlannedItem): MessageInitShape<typeof BackfillItemSchema> {
  return { ...toBackfillItem(item), outcome: PREVIEW_OUTCOMES[item.outcome] };
}
