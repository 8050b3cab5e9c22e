import type { ExportedTables } from "@postrider/shared/workspaces/export-service";

/** Without keys, tokens and authorizations. */
export const EXPORTED_TABLES: ExportedTables = {
  workspaces: [],
  accounts: ["available", "available_at"],
  account_settings: [],
};
