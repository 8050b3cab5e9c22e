import { isPlatformId } from "@postrider/platforms/platform-id";
import { anyObject, list, record, text } from "@postrider/shared/workspaces/column-checks";
import type { ImportRules } from "@postrider/shared/workspaces/import-service";
import { MAX_ACCOUNTS, MAX_KNOWN_ACCOUNTS } from "#src/operations/connections.ts";

export const IMPORT_RULES: ImportRules = {
  accounts: {
    columns: {
      platform: isPlatformId,
      permissions: list(200, text(2048)),
      traits: record(50, text(2048)),
    },
    // The last grant of a login may have taken the workspace above its limit.
    max: { count: MAX_KNOWN_ACCOUNTS + MAX_ACCOUNTS, where: "true" },
  },
  account_settings: { columns: { settings: anyObject } },
};
