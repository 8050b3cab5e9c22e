import type { ExportedTables } from "@postrider/shared/workspaces/export-service";

/** The files themselves are read with `ReadMediaFile`. */
export const EXPORTED_TABLES: ExportedTables = {
  media: ["object_key", "delivery_key", "delivery_patches", "lease_token", "lease_until"],
};
