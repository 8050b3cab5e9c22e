import type { ExportedTables } from "@postrider/shared/workspaces/export-service";

/** As the cause of a post, which exports leave out: the post waits for `releaseImportedPosts`. */
export const KEPT_BACK = "{}";

const IS_UNFINISHED = "r.status in ('scheduled', 'publishing')";

/**
 * What a post shows, with what it has used of the quota, and what keeps it from being accepted or
 * published twice. Posts that are not finished arrive as cancelled ones, and deletions as ones
 * about which the delivery service is never asked, so that no job touches them before the import is
 * released; `releaseImportedPosts` lets them go on.
 */
export const EXPORTED_TABLES: ExportedTables = {
  posts: {
    omitted: ["cause", "effective_at"],
    imported: {
      status: `case when ${IS_UNFINISHED} then 'cancelled' else r.status end`,
      cause: `case when ${IS_UNFINISHED} then '${KEPT_BACK}'::jsonb end`,
    },
    refers: { queue_slot_rule_id: ["queue_slot_rules", "id"] },
  },
  targets: {
    imported: {
      last_report_at:
        "case when r.status in ('pending', 'publishing', 'deleting') then 'infinity' else r.last_report_at end",
      // Deletions are not imported: the sweep requests a new one, whose reports begin at 1.
      deletion_version: "0",
    },
    endless: ["last_report_at"],
  },
  target_attempts: {},
  slot_assignments: { refers: { rule_id: ["queue_slot_rules", "id"] } },
  // Not compared again: a guard of a post that was forced may equal another one.
  duplicate_guards: { imported: { is_checked: "false" } },
  idempotency_keys: { refers: { post_id: ["posts", "id"] } },
  queue_slot_rules: {},
  quota_usage: {
    omitted: ["uncounted"],
    // Of a limit that all workspaces share, whose subject is a platform and no id,
    // `releaseImportedPosts` counts what the posts reserve.
    imported: { reserved: "case when length(r.subject) < 36 then 0 else r.reserved end" },
  },
};
