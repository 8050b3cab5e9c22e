import type { PlannedTarget } from "#src/domain/plan-post.ts";

/** Converts the targets of a post to the JSON records that `jsonb_to_recordset` reads. */
export function toTargetRecords(targets: readonly PlannedTarget[]) {
  return targets.map((target, ordinal) => ({
    id: target.id,
    ordinal,
    account_id: target.accountId,
    platform: target.platform,
    username: target.username,
    due_day: target.dueDay,
    content_hash: target.contentHash,
    settings: target.settings as Record<string, never> | null,
  }));
}
