import type { ISql, TransactionSql } from "@postrider/shared/postgres";
import type { QueueSlotRule } from "#src/domain/queue-slot-rule.ts";

/** A rule with all that is stored of it. */
export interface QueueSlotRuleRow extends QueueSlotRule {
  readonly workspaceId: string;
  readonly name: string;
  readonly updatedAt: Date;
}

/** Dates are text: they belong to no zone. */
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

/** The rules that are not revoked, newest first. */
export async function listQueueSlotRules(
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

/**
 * The active rules, locked in id order. Whoever hands out a slot takes this lock first: the next one then sees the slot
 * as taken, instead of losing it to the unique index again and again.
 */
export async function lockActiveRules(
  tx: TransactionSql,
  workspaceId: string,
): Promise<readonly QueueSlotRuleRow[]> {
  return await tx<QueueSlotRuleRow[]>`
    select ${ruleColumns(tx)}
    from queue_slot_rules
    where workspace_id = ${workspaceId}
    and status = 'active'
    order by id
    for no key update`;
}

/** Locks a rule that is not revoked. */
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

/** Writes all that can change of a locked rule. */
export async function updateQueueSlotRule(
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
