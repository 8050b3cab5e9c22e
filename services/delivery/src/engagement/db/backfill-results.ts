import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { OutcomeCounts } from "./backfills.ts";

export interface BackfillResult {
  readonly commentId: string;
  /** The comment as a binary proto message. */
  readonly comment: Uint8Array;
  readonly outcome: "prepared" | "skipped" | "no_match";
  readonly reason: string | null;
}

export interface StoredResult extends BackfillResult {
  readonly position: number;
}

/**
 * Stores the results for a page of past comments, numbered after those of the earlier pages.
 * Returns how many were stored, by outcome. A comment that an earlier page contained too, because
 * newer comments have moved the page limits, is left out. Call it while the backfill job is locked.
 */
export async function insertResults(
  tx: TransactionSql,
  {
    id,
    workspaceId,
    from,
  }: { readonly id: string; readonly workspaceId: string; readonly from: number },
  results: readonly BackfillResult[],
): Promise<OutcomeCounts> {
  const known = await tx<{ commentId: string }[]>`
    select comment_id
    from backfill_results
    where backfill_id = ${id}
    and workspace_id = ${workspaceId}
    and comment_id = any(${results.map(({ commentId }) => commentId)}::text[])`;
  const knownIds = new Set(known.map(({ commentId }) => commentId));
  const rows = results
    .filter(({ commentId }) => !knownIds.has(commentId))
    .map(({ commentId, comment, outcome, reason }, index) => ({
      position: from + index,
      comment_id: commentId,
      comment: Buffer.from(comment).toString("base64"),
      outcome,
      reason,
    }));
  const stored = await tx<{ outcome: BackfillResult["outcome"] }[]>`
    insert into backfill_results (backfill_id, workspace_id, position, comment_id, comment, outcome, reason)
    select ${id}, ${workspaceId}, position, comment_id, decode(comment, 'base64'), outcome, reason
    from jsonb_to_recordset(${tx.json(rows)}) as r(
      position int, comment_id text, comment text, outcome text, reason text
    )
    returning outcome`;
  const count = (outcome: BackfillResult["outcome"]) =>
    stored.filter((each) => each.outcome === outcome).length;
  return {
    prepared: count("prepared"),
    skipped: count("skipped"),
    unmatched: count("no_match"),
  };
}

/** Newest comment first, and one beyond the page, which shows that another page follows. */
export async function listResults(
  sql: ISql,
  { id, workspaceId }: { readonly id: string; readonly workspaceId: string },
  { limit, after }: { readonly limit: number; readonly after: number },
): Promise<readonly StoredResult[]> {
  return await sql<StoredResult[]>`
    select position, comment_id, comment, outcome, reason
    from backfill_results
    where backfill_id = ${id}
    and workspace_id = ${workspaceId}
    and position > ${after}
    order by position
    limit ${limit + 1}`;
}
