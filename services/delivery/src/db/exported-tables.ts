import type { ISql, SqlFragment } from "@postrider/shared/postgres";
import type { ExportedTables } from "@postrider/shared/workspaces/export-service";
import { isDoubtful as isActionDoubtful } from "#src/engagement/db/restore-doubts.ts";
import { isDoubtful as isTaskDoubtful } from "#src/publishing/db/deployment.ts";

/** An earlier call of a target may have published it. */
const IS_UNCERTAIN =
  "(r.status in ('calling', 'unknown', 'reconciling') or (r.status in ('queued', 'working') and r.open_unknowns > 0))";

/** The author of an export may have named the accounts of others. */
const UNCONFIRMED_ACCOUNT = {
  external_account_id: "null",
  unconfirmed_account_id: "coalesce(r.external_account_id, '')",
};

/**
 * A call that was in progress when its row was exported has an unknown outcome, and one that had
 * not begun waits again. Both rest for longer than any import takes; its end wakes them.
 */
const RESTING_CALL = {
  ...UNCONFIRMED_ACCOUNT,
  status:
    "case r.status when 'working' then 'queued' when 'calling' then 'unknown' when 'reconciling' then 'unknown' else r.status end",
  wake_at:
    "case when r.status in ('working', 'calling', 'unknown', 'reconciling') or (r.status = 'queued' and r.is_doubtful) then now() + interval '400 days' else r.wake_at end",
  open_unknowns: "r.open_unknowns + case when r.status = 'calling' then 1 else 0 end",
  unknown_count: "r.unknown_count + case when r.status = 'calling' then 1 else 0 end",
  // An uncertain row has all of them, but the author of an export may have removed them.
  first_unknown_at: `case when ${IS_UNCERTAIN} then coalesce(r.first_unknown_at, r.called_at, now()) else r.first_unknown_at end`,
  call_until: `case when ${IS_UNCERTAIN} then coalesce(r.call_until, now()) else r.call_until end`,
};

/**
 * Without its handles, which only a move brings, a target cannot be continued, so its post is
 * searched for like after a restore. Until its search, several that cannot be told apart may be
 * uncertain.
 */
const RESTING_TARGET = {
  ...RESTING_CALL,
  status: `case when ${IS_UNCERTAIN} then 'unknown' when r.status = 'working' then 'queued' else r.status end`,
  wake_at: `case when ${IS_UNCERTAIN} or r.status = 'working' or (r.status = 'queued' and r.is_doubtful) then now() + interval '400 days' else r.wake_at end`,
  is_restored: `case when ${IS_UNCERTAIN} then true else r.is_restored end`,
  looks: `case when ${IS_UNCERTAIN} then 0 else r.looks end`,
  // Without an error, a search would take the post for one that the platform still processes.
  error_code: `case when ${IS_UNCERTAIN} and r.status in ('queued', 'working', 'calling') then coalesce(r.error_code, 'outcome_unknown') else r.error_code end`,
  error_message: `case when ${IS_UNCERTAIN} and r.status in ('queued', 'working', 'calling') then coalesce(r.error_message, 'the outcome of a call is unknown') else r.error_message end`,
  content_hash: `case when ${IS_UNCERTAIN} then null else r.content_hash end`,
};

/**
 * A private reply that waits was allowed where it was stored, so it is sent where sending was
 * enabled later. Only after a move: after another import its rule is paused.
 */
const SENDABLE_SINCE =
  "case when r.type = 'private_reply' and r.status in ('queued', 'working') then greatest(r.created_at, (select enabled_at from automation_sending)) else r.created_at end";

/** What a restore made uncertain stays so in the installation that imports it. */
function exportDoubt(isDoubtful: (sql: ISql) => SqlFragment) {
  return {
    is_doubtful: (sql: ISql) => sql`exists (select from deployment d where ${isDoubtful(sql)})`,
  };
}

const UNUSED = ["cause", "lease_owner", "fence", "crash_count", "unconfirmed_account_id"];

/**
 * Without the secrets of webhooks, what is sealed with keys of the installation, and what only
 * processes use. Tasks, attempts and idempotency keys are among them so that nothing is published
 * and no reply is sent a second time.
 */
export const EXPORTED_TABLES: ExportedTables = {
  publish_tasks: {
    omitted: [...UNUSED, "handles"],
    exported: exportDoubt(isTaskDoubtful),
    imported: RESTING_TARGET,
  },
  publish_attempts: {
    omitted: ["fence"],
    imported: { fence: "0" },
    refers: { target_id: ["publish_tasks", "target_id"] },
  },
  // Platforms are asked when the accounts work here, and for no longer than they would have been.
  detail_questions: {
    imported: {
      wake_at: "now() + interval '400 days'",
      created_at: "least(r.created_at, now())",
    },
    refers: { target_id: ["publish_tasks", "target_id"] },
  },
  // The owner of the workspace starts them when the accounts are connected.
  automation_rules: {
    imported: {
      status: "case when r.status = 'active' then 'paused' else r.status end",
      skip_before: "case when r.status = 'active' then now() else r.skip_before end",
    },
  },
  comment_actions: {
    omitted: UNUSED,
    exported: exportDoubt(isActionDoubtful),
    imported: {
      ...RESTING_CALL,
      created_at: SENDABLE_SINCE,
      // Hiding and showing is not searched for.
      is_doubtful: "r.is_doubtful and r.type in ('reply', 'private_reply')",
    },
    refers: { rule_id: ["automation_rules", "id"], run_id: ["automation_runs", "id"] },
  },
  // After the private replies, which end them: one that was read before its end is searched for.
  automation_runs: {},
  idempotency_keys: {},
  // Paused, because their receivers do not know the new secrets.
  webhook_subscriptions: {
    imported: { status: "case when r.status = 'active' then 'paused' else r.status end" },
  },
  target_metrics: {
    omitted: ["asking_until", "thin_at"],
    imported: { thin_at: "now()" },
    endless: ["due_at"],
  },
  target_metric_history: { refers: { target_id: ["target_metrics", "target_id"] } },
};
