import type { ExportedTables } from "@postrider/shared/workspaces/export-service";

/** The files themselves are read with `ReadMediaFile`, and imported with `BeginMediaFile`. */
export const EXPORTED_TABLES: ExportedTables = {
  media: {
    omitted: ["object_key", "delivery_key", "delivery_patches", "lease_token", "lease_until"],
    isImportedApart: true,
  },
  // As if just recorded: a use by a post that is not known yet would otherwise end at once.
  media_usages: { omitted: ["claim_id"], imported: { noted_at: "now()" } },
  // So that a repeated request imports no second file.
  idempotency_keys: {},
};
