import type { ExportedTables } from "@postrider/shared/workspaces/export-service";

/** What a post shows, with what it has used of the quota. */
export const EXPORTED_TABLES: ExportedTables = {
  posts: ["cause", "effective_at"],
  targets: ["content_hash"],
  target_attempts: [],
  queue_slot_rules: [],
  quota_usage: [],
};
