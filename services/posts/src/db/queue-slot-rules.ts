import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { QueueSlotRule } from "#src/domain/queue-slot-rule.ts";

export interface QueueSlotRuleRow extends QueueSlotRule {
  readonly workspaceId: string;
  readonly name: string;
  readonly updatedAt: Date;
}

/** Dates are read as text, because a JavaScript `Date` would give them a time zone. */
function ruleColumns(sql: ISql) {
  return sql`
    id, workspace_id, name, to_json(weekdays) as weekdays, to_json(times) as times, timezone,
    starts_on::text as starts_on, ends_on::text as ends_on, status, created_at, updated_at`;
}

export async function insertQueueSlotRule(sql: ISql, rule: QueueSlotRuleRow): Promise<void> {
  await sql`
    insert into queue_slot_rules (
      id, workspace_id, name, weekdays, times, timezone, starts_on, ends_on, status, created_at, updated_at
    ) values (
      ${rule.id}, ${rule.workspaceId}, ${rule.name}, ${[...rule.weekdays]}::text[], ${[...rule.times]}::text[],
      ${rule.timezone}, ${rule.startsOn}::text::date, ${rule.endsOn}::text::date, ${rule.status}, ${rule.createdAt},
      ${rule.updatedAt}
    )`;
}

export async function listQueueSlotRuleRows(
  sql: ISql,
  workspaceId: string,
): Promise<readonly QueueSlotRuleRow[]> {
  return await sql<QueueSlotRuleRow[]>`
    select ${ruleColumns(sql)}
    from queue_slot_rules
    where workspace_id = ${workspaceId}
    and status <> 'revoked'
    order by id desc`;
}

/** In id order. */
export async function listActiveRules(
  sql: ISql,
  workspaceId: string,
): Promise<readonly QueueSlotRuleRow[]> {
  return await sql<QueueSlotRuleRow[]>`
    select ${ruleColumns(sql)}
    from queue_slot_rules
    where workspace_id = ${workspaceId}
    and status = 'active'
    order by id`;
}

/**
 * A transaction that assigns a slot takes these locks first, so concurrent posts get theirs one
 * after the other, and none gets a taken one. Returns whether `rules` have not changed since.
 */
export async function lockActiveRules(
  tx: TransactionSql,
  workspaceId: string,
  rules: readonly QueueSlotRuleRow[],
): Promise<boolean> {
  const locked = await tx<Pick<QueueSlotRuleRow, "id" | "updatedAt">[]>`
    select id, updated_at
    from queue_slot_rules
    where workspace_id = ${workspaceId}
    and status = 'active'
    order by id
    for no key update`;
  return versionsOf(locked) === versionsOf(rules);
}

function versionsOf(rules: readonly Pick<QueueSlotRuleRow, "id" | "updatedAt">[]): string {
  return rules.map(({ id, updatedAt }) => `${id} ${updatedAt.getTime()}`).join();
}

export async function lockQueueSlotRule(
  tx: TransactionSql,
  workspaceId: string,
  id: string,
): Promise<QueueSlotRuleRow | undefined> {
  const [row] = await tx<QueueSlotRuleRow[]>`
    select ${ruleColumns(tx)}
    from queue_slot_rules
    where workspace_id = ${workspaceId}
    and id = ${id}
    and status <> 'revoked'
    for no key update`;
  return row;
}

export async function updateQueueSlotRuleRow(
  tx: TransactionSql,
  rule: QueueSlotRuleRow,
): Promise<void> {
  await tx`
    update queue_slot_rules
    set name = ${rule.name},
      weekdays = ${[...rule.weekdays]}::text[],
      times = ${[...rule.times]}::text[],
      timezone = ${rule.timezone},
      starts_on = ${rule.startsOn}::text::date,
      ends_on = ${rule.endsOn}::text::date,
      status = ${rule.status},
      updated_at = ${rule.updatedAt}
    where workspace_id = ${rule.workspaceId}
    and id = ${rule.id}`;
}

/** The row is kept, because posts reference it. */
export async function deleteQueueSlotRuleRow(
  sql: ISql,
  rule: { readonly workspaceId: string; readonly id: string; readonly deletedAt: Date },
): Promise<boolean> {
  const { count } = await sql`
    update queue_slot_rules
    set status = 'revoked',
      updated_at = ${rule.deletedAt}
    where workspace_id = ${rule.workspaceId}
    and id = ${rule.id}
    and status <> 'revoked'`;
  return count > 0;
}

/**
 * Transactions that add rules to a workspace run one after the other, so each counts the rules of
 * those before. Workspaces whose ids have the same hash share a lock, which is harmless.
 */
export async function lockRuleCount(tx: TransactionSql, workspaceId: string): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtextextended(${`queue_slot_rules ${workspaceId}`}, 0))`;
}

/**
 * Posts keep the id of a rule that was deleted; lists and requests no longer find a revoked one.
 */
export async function deleteRevokedRules(sql: ISql, limit: number): Promise<number> {
  const { count } = await sql`
    delete from queue_slot_rules
    where id in (
      select id
      from queue_slot_rules
      where status = 'revoked'
      and updated_at < now() - interval '40 days'
      limit ${limit}
      for update skip locked
    )`;
  return count;
}
