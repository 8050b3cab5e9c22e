import type { ISql } from "@postrider/shared/postgres";
import type { DoubtfulTable } from "#src/calls/doubt.ts";
import { isDisplacedOrDoubtful, type MarkedTable } from "#src/calls/marks.ts";
import { markedAssignments, markedTypes, toMarkedRow } from "#src/calls/table.ts";
import { isStopped } from "#src/db/stopped-workspaces.ts";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";
import { isBehindVisibility, isBesideLater, isOvertaken } from "./hidden-comments.ts";
import { DOUBT, doubtfulActions, isDoubtful, searchFrom } from "./restore-doubts.ts";

/** And was not paused since the private reply was stored. */
function isRuleActive(sql: ISql) {
  return sql`exists (
    select 1
    from automation_rules r
    where r.id = t.rule_id
    and r.status = 'active'
    and r.activated_at <= t.created_at
  )`;
}

/** Without an interruption since the private reply was stored. */
function isSendingAllowed(sql: ISql) {
  return sql`exists (
    select 1
    from automation_sending s
    where s.enabled_at <= t.created_at
  )`;
}

function isWanted(sql: ISql) {
  return sql`(t.type <> 'private_reply' or ${isRuleActive(sql)})`;
}

function isAllowed(sql: ISql) {
  return sql`(t.type <> 'private_reply' or ${isSendingAllowed(sql)})`;
}

/** Why the call of an action may not begin, beside the reasons that hold for all calls. */
export type ActionReason =
  /** The rule of the private reply is no longer active. */
  | "rule_inactive"
  /** Also if the operator blocked private replies only for a time. */
  | "sending_blocked"
  /** A later action on the comment took effect, or may have. */
  | "duplicate_detected";

type ActionKey = { readonly id: string };

export const ACTION_TABLE: MarkedTable<ActionKey, CommentAction, ActionReason> & DoubtfulTable = {
  rows: (sql) => sql`comment_actions`,
  key: (sql) => sql`t.id`,
  keyTypes: (sql) => sql`id uuid`,
  toKey: ({ id }) => ({ id }),
  isSame: (sql) => sql`t.id = k.id`,
  touch: (sql) => sql``,
  lost: (sql) => sql``,
  obstacles: (sql) => [
    { reason: "stopped", when: isDisplacedOrDoubtful(sql, isDoubtful(sql)) },
    { reason: "stopped", when: isStopped(sql, sql`t.workspace_id`) },
    { reason: "missed", when: sql`t.send_before <= now()` },
    { reason: "rule_inactive", when: sql`not ${isWanted(sql)}` },
    { reason: "sending_blocked", when: sql`not ${isAllowed(sql)}` },
    { reason: "duplicate_detected", when: isOvertaken(sql, sql`k.external_account_id`) },
    { reason: "busy", when: isBehindVisibility(sql, sql`k.external_account_id`) },
    { reason: "busy", when: isBesideLater(sql, sql`k.external_account_id`) },
  ],
  allowed: (sql) => sql`allowed as (select id, external_account_id, call_ms from ours)`,
  mark: (sql) => sql``,
  doubtful: doubtfulActions,
  searchFrom,
  unindex: (sql) => sql`external_account_id = null`,
  doubt: DOUBT,
  toRow: (action) => ({
    ...toMarkedRow(action),
    call_until: action.callUntil?.toISOString() ?? null,
    further_ids: action.furtherIds,
    finished_at: action.finishedAt?.toISOString() ?? null,
  }),
  assignments: (sql) => sql`
    ${markedAssignments(sql)},
    call_until = k.call_until,
    further_ids = k.further_ids,
    finished_at = k.finished_at`,
  types: (sql) => sql`
    ${markedTypes(sql)}, call_until timestamptz, further_ids text[], finished_at timestamptz`,
};
