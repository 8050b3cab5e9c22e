import type { ISql, TransactionSql } from "@postrider/shared/postgres";

export type BackfillStatus = "preparing" | "ready" | "paused" | "completed" | "failed";

/** Shows page by page what a rule would do with past comments. It never sends anything. */
export interface BackfillRow {
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly ruleId: string;
  readonly mediaId: string;
  readonly status: BackfillStatus;
  readonly pages: number;
  readonly pageCursor: string | null;
  readonly prepared: number;
  readonly skipped: number;
  readonly unmatched: number;
  /** Approximate size of the results. */
  readonly bytes: number;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** A page that was not stored in time can be requested again: the job is `ready` again. */
function columns(sql: ISql) {
  return sql`
    id, workspace_id, account_id, rule_id, media_id,
    case when status = 'preparing' and preparing_until <= now() then 'ready' else status end as status,
    pages, page_cursor, prepared, skipped, unmatched, bytes, created_at, updated_at`;
}

export async function insertBackfill(tx: TransactionSql, job: BackfillRow): Promise<void> {
  await tx`
    insert into backfills (
      id, workspace_id, account_id, rule_id, media_id, status, pages, page_cursor, prepared, skipped, unmatched,
      bytes, created_at, updated_at
    ) values (
      ${job.id}, ${job.workspaceId}, ${job.accountId}, ${job.ruleId}, ${job.mediaId}, ${job.status}, ${job.pages},
      ${job.pageCursor}, ${job.prepared}, ${job.skipped}, ${job.unmatched}, ${job.bytes}, ${job.createdAt},
      ${job.updatedAt}
    )`;
}

export async function findBackfill(
  sql: ISql,
  workspaceId: string,
  id: string,
  lock = sql``,
): Promise<BackfillRow | undefined> {
  const [row] = await sql<BackfillRow[]>`
    select ${columns(sql)}
    from backfills
    where id = ${id}
    and workspace_id = ${workspaceId}
    ${lock}`;
  return row;
}

export async function lockBackfill(tx: TransactionSql, workspaceId: string, id: string) {
  return await findBackfill(tx, workspaceId, id, tx`for no key update`);
}

/** Newest first, and one beyond the page, which shows that another page follows. */
export async function listBackfillPage(
  sql: ISql,
  workspaceId: string,
  { limit, before }: { readonly limit: number; readonly before: string | undefined },
): Promise<readonly BackfillRow[]> {
  return await sql<BackfillRow[]>`
    select ${columns(sql)}
    from backfills
    where workspace_id = ${workspaceId}
    ${before === undefined ? sql`` : sql`and id < ${before}`}
    order by id desc
    limit ${limit + 1}`;
}

type JobRef = Pick<BackfillRow, "id" | "workspaceId">;

/** After `preparingMs`, a page that was not stored can be prepared again. */
export async function setBackfillStatus(
  tx: TransactionSql,
  { id, workspaceId }: JobRef,
  status: BackfillStatus,
  preparingMs = 0,
): Promise<BackfillRow> {
  const [row] = await tx<BackfillRow[]>`
    update backfills
    set status = ${status},
      preparing_until = now() + ${preparingMs} * interval '1 millisecond',
      updated_at = now()
    where id = ${id}
    and workspace_id = ${workspaceId}
    returning ${columns(tx)}`;
  if (row === undefined) throw new Error("the preparation job is missing");
  return row;
}

interface OutcomeCounts {
  readonly prepared: number;
  readonly skipped: number;
  readonly unmatched: number;
}

export async function addBackfillPage(
  tx: TransactionSql,
  { id, workspaceId }: JobRef,
  {
    status,
    pageCursor,
    counts,
    bytes,
  }: {
    readonly status: BackfillStatus;
    readonly pageCursor: string | null;
    readonly counts: OutcomeCounts;
    readonly bytes: number;
  },
): Promise<BackfillRow> {
  const [row] = await tx<BackfillRow[]>`
    update backfills
    set status = ${status},
      preparing_until = '-infinity',
      pages = pages + 1,
      page_cursor = ${pageCursor},
      prepared = prepared + ${counts.prepared},
      skipped = skipped + ${counts.skipped},
      unmatched = unmatched + ${counts.unmatched},
      bytes = bytes + ${bytes},
      updated_at = now()
    where id = ${id}
    and workspace_id = ${workspaceId}
    returning ${columns(tx)}`;
  if (row === undefined) throw new Error("the preparation job is missing");
  return row;
}

/** Per workspace. The oldest jobs give way to newer ones. */
export const BACKFILL_LIMITS = { jobs: 100, bytes: 100_000_000 };

export async function deleteOldBackfills(
  tx: TransactionSql,
  { workspaceId, keptId }: { readonly workspaceId: string; readonly keptId: string },
  { jobs, bytes } = BACKFILL_LIMITS,
): Promise<void> {
  // A job to which another request is adding a page is locked, and left to the next request.
  const old = await tx<{ id: string }[]>`
    select id
    from backfills
    where workspace_id = ${workspaceId}
    and id in (
      select id
      from (
        select id, row_number() over newest as place, sum(bytes) over newest as total
        from backfills
        where workspace_id = ${workspaceId}
        window newest as (order by id desc)
      ) as job
      where place > ${jobs} or total > ${bytes}
    )
    and id <> ${keptId}
    for update skip locked`;
  const ids = old.map(({ id }) => id);
  if (ids.length === 0) return;
  await tx`delete from backfill_results where backfill_id = any(${ids}::uuid[])`;
  await tx`delete from backfills where id = any(${ids}::uuid[])`;
}

export interface BackfillResult {
  readonly commentId: string;
  /** The comment as a binary proto message. */
  readonly comment: Uint8Array;
  readonly outcome: "prepared" | "skipped" | "no_match";
  readonly reason: string | null;
}

interface StoredResult extends BackfillResult {
  readonly position: number;
}

/**
 * While the job is locked. A comment that an earlier page contained too, because newer comments
 * have moved the page limits, is left out. Returns how many were stored, by outcome.
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
