import type { ExportedTables } from "@postrider/shared/workspaces/export-service";

/**
 * Without keys, tokens and authorizations, so that imported accounts have to be connected again.
 */
export const EXPORTED_TABLES: ExportedTables = {
  workspaces: {
    omitted: ["moves_to", "frozen_at", "moved_at", "handover"],
    isImportedApart: true,
  },
  accounts: {
    omitted: ["available", "available_at"],
    imported: {
      status: "case when r.status = 'disconnected' then r.status else 'reconnect_required' end",
    },
  },
  account_settings: {},
};
