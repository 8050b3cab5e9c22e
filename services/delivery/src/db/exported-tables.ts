import type { ExportedTables } from "@postrider/shared/workspaces/export-service";

const CALL_COLUMNS = ["cause", "lease_owner", "fence", "wake_at", "crash_count"];

/** Without the secrets of webhooks, and without what only processes use. */
export const EXPORTED_TABLES: ExportedTables = {
  automation_rules: [],
  automation_runs: [],
  comment_actions: CALL_COLUMNS,
  webhook_subscriptions: [],
  target_metrics: ["asking_until", "thin_at"],
  target_metric_history: [],
};
