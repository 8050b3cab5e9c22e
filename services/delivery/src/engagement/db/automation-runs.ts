import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { AutomationRunCompletedSchema } from "@postrider/contracts/engagement/v1/engagement_events_pb";
import { MAX_COUNT } from "@postrider/rest/dashboard/parts";
import { appendEvents, outboxEvent } from "@postrider/shared/outbox";
import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { RunEnd, RunReason } from "#src/engagement/domain/plan-runs.ts";

export const RUN_STATUSES = ["prepared", "sent", "skipped", "failed"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

/** A run: what became of one comment under one automation rule. */
export interface AutomationRun {
  readonly id: string;
  readonly workspaceId: string;
  readonly accountId: string;
  readonly ruleId: string;
  readonly commentId: string;
  readonly mediaId: string;
  readonly authorId: string | null;
  readonly authorUsername: string | null;
  readonly status: RunStatus;
  /** Null if a private reply was sent or waits to be sent. */
  readonly reason: RunReason | null;
  readonly version: number;
  readonly createdAt: Date;
}

export type NewRun = Omit<AutomationRun, "version" | "createdAt">;

function columns(sql: ISql) {
  return sql`
    id, workspace_id, account_id, rule_id, comment_id, media_id, author_id, author_username, status, reason,
    version, created_at`;
}

/** Also stores the events about runs that have ended already. */
export async function insertRuns(tx: TransactionSql, runs: readonly NewRun[]): Promise<void> {
  if (runs.length === 0) return;
  const rows = runs.map((run) => ({
    id: run.id,
    workspace_id: run.workspaceId,
    account_id: run.accountId,
    rule_id: run.ruleId,
    comment_id: run.commentId,
    media_id: run.mediaId,
    author_id: run.authorId,
    author_username: run.authorUsername,
    status: run.status,
    reason: run.reason,
  }));
  const stored = await tx<AutomationRun[]>`
    insert into automation_runs (
      id, workspace_id, account_id, rule_id, comment_id, media_id, author_id, author_username, status, reason
    )
    select id, workspace_id, account_id, rule_id, comment_id, media_id, author_id, author_username, status, reason
    from jsonb_to_recordset(${tx.json(rows)}) as r(
      id uuid, workspace_id uuid, account_id uuid, rule_id uuid, comment_id text, media_id text, author_id text,
      author_username text, status text, reason text
    )
    returning ${columns(tx)}`;
  await appendEnds(
    tx,
    stored.filter(({ reason }) => reason !== null),
  );
}

async function appendEnds(
  tx: TransactionSql,
  runs: readonly Pick<AutomationRun, "id" | "workspaceId" | "accountId" | "version">[],
): Promise<void> {
  const occurredAt = timestampFromDate(new Date());
  const events = runs.map(({ id: runId, workspaceId, accountId, version }) =>
    outboxEvent(
      AutomationRunCompletedSchema,
      { workspaceId, runId, version: BigInt(version), occurredAt },
      accountId,
    ),
  );
  await appendEvents(tx, events);
}

/** A run that has ended changes only if its private reply turns out to have been sent. */
export async function endRuns(
  tx: TransactionSql,
  ends: readonly (RunEnd & { readonly runId: string })[],
): Promise<void> {
  if (ends.length === 0) return;
  const rows = ends.map(({ runId, status, reason }) => ({ run_id: runId, status, reason }));
  // Runs are locked in the order of their ids, so that two transactions cannot deadlock. The
  // conditions are checked under the lock.
  const changed = await tx<AutomationRun[]>`
    with ends as materialized (
      select r.id, e.status, e.reason
      from jsonb_to_recordset(${tx.json(rows)}) as e(run_id uuid, status text, reason text)
      join automation_runs r on r.id = e.run_id
      where (r.status = 'prepared' and r.reason is null)
      or (e.status = 'sent' and r.status <> 'sent')
      order by r.id
      for no key update of r
    )
    update automation_runs r
    set status = e.status,
      reason = e.reason,
      version = r.version + 1
    from ends e
    where r.id = e.id
    returning r.id, r.workspace_id, r.account_id, r.version`;
  await appendEnds(tx, changed);
}

export async function listKnownRuns(
  sql: ISql,
  {
    workspaceId,
    ruleIds,
    commentIds,
  }: {
    readonly workspaceId: string;
    readonly ruleIds: readonly string[];
    readonly commentIds: readonly string[];
  },
): Promise<readonly Pick<AutomationRun, "ruleId" | "commentId">[]> {
  return await sql<Pick<AutomationRun, "ruleId" | "commentId">[]>`
    select rule_id, comment_id
    from automation_runs
    where rule_id = any(${[...ruleIds]}::uuid[])
    and comment_id = any(${[...commentIds]}::text[])
    and workspace_id = ${workspaceId}`;
}

interface RunPage {
  readonly ruleId: string | undefined;
  readonly status: RunStatus | undefined;
  readonly limit: number;
  readonly before: string | undefined;
}

/** Newest first, and one beyond the page, which shows that another page follows. */
export async function listRunPage(
  sql: ISql,
  workspaceId: string,
  page: RunPage,
): Promise<readonly AutomationRun[]> {
  return await runPage(sql, workspaceId, page);
}

export function runPage(
  sql: ISql,
  workspaceId: string,
  { ruleId, status, limit, before }: RunPage,
) {
  return sql<AutomationRun[]>`
    select ${columns(sql)}
    from automation_runs
    where workspace_id = ${workspaceId}
    ${ruleId === undefined ? sql`` : sql`and rule_id = ${ruleId}`}
    ${status === undefined ? sql`` : sql`and status = ${status}`}
    ${before === undefined ? sql`` : sql`and id < ${before}`}
    order by id desc
    limit ${limit + 1}`;
}

/** The numbers of runs by rule, each at most one more than `MAX_COUNT`. */
export async function countRuns(
  sql: ISql,
  workspaceId: string,
  ruleIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ id: string; count: number }[]>`
    select id, (
        select count(*)::int
        from (
          select
          from automation_runs
          where rule_id = automation_rules.id
          limit ${MAX_COUNT + 1}
        ) as counted
      ) as count
    from automation_rules
    where id = any(${[...ruleIds]}::uuid[])
    and workspace_id = ${workspaceId}`;
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** Enough for two lines of a list. */
const SHOWN_TEXT = 200;

/** The beginnings of comments by run, as far as the inbox has the comments. */
export async function findCommentTexts(
  sql: ISql,
  workspaceId: string,
  runIds: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await sql<{ id: string; text: string }[]>`
    select r.id, left(c.text, ${SHOWN_TEXT}) as text
    from automation_runs r
    join inbox_comments c on c.account_id = r.account_id
      and c.media_id = r.media_id
      and c.comment_id = r.comment_id
      and c.workspace_id = r.workspace_id
    where r.id = any(${[...runIds]}::uuid[])
    and r.workspace_id = ${workspaceId}`;
  return new Map(rows.map(({ id, text }) => [id, text]));
}

export async function listRunsByIds(
  sql: ISql,
  refs: readonly { readonly workspaceId: string; readonly id: string }[],
): Promise<readonly AutomationRun[]> {
  const rows = refs.map(({ workspaceId, id }) => ({ workspace_id: workspaceId, id }));
  return await sql<AutomationRun[]>`
    select ${columns(sql)}
    from automation_runs
    where (id, workspace_id) in (
      select id, workspace_id
      from jsonb_to_recordset(${sql.json(rows)}) as r(id uuid, workspace_id uuid)
    )`;
}
