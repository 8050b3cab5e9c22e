import type { ISql } from "@postrider/shared/postgres";

/** The columns of a `Task`, for a query that names `publish_tasks` as `t`. */
export function taskColumns(sql: ISql) {
  return sql`
    t.target_id, t.generation, t.workspace_id, t.post_id, t.account_id, t.platform, t.status, t.wake_at,
    t.due_at, t.publish_before, t.fence, t.crash_count, t.attempt_number, t.is_attempt_open, t.retry_count,
    t.unknown_count, t.open_unknowns, t.resend_count, t.looks, t.is_limited, t.is_restored, t.call_number,
    t.first_unknown_at, t.called_at, t.call_until, t.version, t.external_id, t.permalink, t.published_at,
    t.error_code, t.error_message`;
}

/** The columns of an `Attempt`, for a query that names `publish_attempts` as `a`. */
export function attemptColumns(sql: ISql) {
  return sql`
    a.target_id, a.number, a.call_number, a.started_at, a.finished_at, a.outcome, a.code, a.message,
    a.external_id, a.permalink, a.is_not_sent`;
}
