import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { AutomationRule } from "#src/engagement/domain/automation-rule.ts";

function columns(sql: ISql) {
  return sql`
    id, workspace_id, account_id, platform, name, to_json(media_ids) as media_ids, to_json(keywords) as keywords, match,
    to_json(exclude_keywords) as exclude_keywords, message, status, activated_at, created_at, updated_at`;
}

function toArray(sql: ISql, values: readonly string[] | null) {
  return values === null ? sql`null` : sql`${[...values]}::text[]`;
}

export async function insertRule(tx: TransactionSql, rule: AutomationRule): Promise<void> {
  await tx`
    insert into automation_rules (
      id, workspace_id, account_id, platform, name, media_ids, keywords, match, exclude_keywords, message, status,
      created_at, updated_at
    ) values (
      ${rule.id}, ${rule.workspaceId}, ${rule.accountId}, ${rule.platform}, ${rule.name},
      ${toArray(tx, rule.mediaIds)}, ${toArray(tx, rule.keywords)}, ${rule.match}, ${toArray(tx, rule.excludeKeywords)},
      ${rule.message}, ${rule.status}, ${rule.createdAt}, ${rule.updatedAt}
    )`;
}

/**
 * Stores a changed automation rule. If the rule is no longer active, a job later marks its waiting
 * runs as skipped. A revoked rule loses its words, media and message: at once, or after that job,
 * because a poll that has begun still compares comments with it.
 */
export async function updateRule(
  tx: TransactionSql,
  rule: AutomationRule,
  { isStopped }: { readonly isStopped: boolean },
): Promise<void> {
  const isKept = rule.status !== "revoked" || isStopped;
  const { mediaIds, keywords, match, excludeKeywords, message } = isKept ? rule : FORGOTTEN;
  await tx`
    update automation_rules
    set name = ${rule.name},
      media_ids = ${toArray(tx, mediaIds)},
      keywords = ${toArray(tx, keywords)},
      match = ${match},
      exclude_keywords = ${toArray(tx, excludeKeywords)},
      message = ${message},
      status = ${rule.status},
      activated_at = ${rule.activatedAt},
      skip_before = case when ${isStopped} then clock_timestamp() else skip_before end,
      updated_at = ${rule.updatedAt}
    where id = ${rule.id}
    and workspace_id = ${rule.workspaceId}`;
}

/** A revoked rule keeps these values, which match no comment. */
const FORGOTTEN = {
  mediaIds: null,
  keywords: [],
  match: "any",
  excludeKeywords: [],
  message: "",
} as const;

/** Also finds a revoked rule. */
export async function findRule(
  sql: ISql,
  workspaceId: string,
  id: string,
): Promise<AutomationRule | undefined> {
  const [row] = await sql<AutomationRule[]>`
    select ${columns(sql)}
    from automation_rules
    where id = ${id}
    and workspace_id = ${workspaceId}`;
  return row;
}

/** Returns one more than a page, which shows that another page follows. */
export async function listRules(
  sql: ISql,
  workspaceId: string,
  page: { readonly limit: number; readonly before: string | undefined },
): Promise<readonly AutomationRule[]> {
  return await sql<AutomationRule[]>`
    select ${columns(sql)}
    from automation_rules
    where workspace_id = ${workspaceId}
    and status <> 'revoked'
    ${page.before === undefined ? sql`` : sql`and id < ${page.before}`}
    order by id desc
    limit ${page.limit + 1}`;
}

/** Other transactions wait, so that two of them cannot both create the last allowed rule. */
export async function lockRuleCount(tx: TransactionSql, workspaceId: string): Promise<number> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`automation_rules ${workspaceId}`}, 0))`;
  const [row] = await tx<{ count: number }[]>`
    select count(*)::int as count
    from automation_rules
    where workspace_id = ${workspaceId}
    and status <> 'revoked'`;
  return row?.count ?? 0;
}

/** Active rules and those with the given ids, oldest first. */
export async function listRulesOfAccount(
  sql: ISql,
  { workspaceId, accountId }: { readonly workspaceId: string; readonly accountId: string },
  otherIds: readonly string[] = [],
): Promise<readonly AutomationRule[]> {
  return await sql<AutomationRule[]>`
    select ${columns(sql)}
    from automation_rules
    where account_id = ${accountId}
    and workspace_id = ${workspaceId}
    and (status = 'active' or id = any(${[...otherIds]}::uuid[]))
    order by id`;
}

/** A paused or revoked rule that may have runs that still wait. */
export interface StoppedRule {
  readonly id: string;
  /** When the rule was stopped, in microseconds, as Postgres writes a time. */
  readonly skipBefore: string;
}

/** The rule that was stopped first comes first. */
export function hasStoppedRules(sql: ISql) {
  return sql`exists (select from automation_rules where skip_before is not null)`;
}

export async function listStoppedRules(
  sql: ISql,
  { limit, after }: { readonly limit: number; readonly after: StoppedRule | undefined },
): Promise<readonly StoppedRule[]> {
  return await sql<StoppedRule[]>`
    select id, skip_before::text as skip_before
    from automation_rules r
    where r.skip_before is not null
    ${after === undefined ? sql`` : sql`and (r.skip_before, r.id) > (${after.skipBefore}::text::timestamptz, ${after.id}::uuid)`}
    order by r.skip_before, r.id
    limit ${limit}`;
}

/** Also empties a revoked rule. A rule that was stopped again since then is not changed. */
export async function clearStoppedRule(sql: ISql, { id, skipBefore }: StoppedRule): Promise<void> {
  await sql`
    update automation_rules
    set skip_before = null,
      media_ids = case when status <> 'revoked' then media_ids end,
      keywords = case when status <> 'revoked' then keywords else '{}' end,
      match = case when status <> 'revoked' then match else ${FORGOTTEN.match} end,
      exclude_keywords = case when status <> 'revoked' then exclude_keywords else '{}' end,
      message = case when status <> 'revoked' then message else '' end
    where id = ${id}
    and skip_before = ${skipBefore}::text::timestamptz
    and not exists (
      select 1
      from automation_runs r
      where r.rule_id = automation_rules.id
      and r.status = 'prepared'
      and r.reason is null
      and r.created_at < ${skipBefore}::text::timestamptz
    )`;
}

/** An active rule, and the time before which it skips comments. */
export interface MovedRule {
  readonly id: string;
  readonly skipBefore: string | null;
}

export async function listActiveRules(
  sql: ISql,
  workspaceId: string,
): Promise<readonly MovedRule[]> {
  return await sql<MovedRule[]>`
    select id, skip_before::text
    from automation_rules
    where workspace_id = ${workspaceId}
    and status = 'active'
    order by account_id, id`;
}

/** Undefined if the rule is not there, or was resumed by an earlier call. */
export async function resumeRule(
  tx: TransactionSql,
  workspaceId: string,
  { id, skipBefore }: MovedRule,
): Promise<{ readonly accountId: string; readonly platform: string } | undefined> {
  const [row] = await tx<{ accountId: string; platform: string }[]>`
    update automation_rules
    set status = 'active',
      skip_before = ${skipBefore}::timestamptz
    where id = ${id}
    and workspace_id = ${workspaceId}
    and status = 'paused'
    returning account_id, platform`;
  return row;
}
