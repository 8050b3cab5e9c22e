import { isPlatformId } from "@postrider/platforms/platform-id";
import { anyObject, list, record, text } from "@postrider/shared/workspaces/column-checks";
import type { ImportRules } from "@postrider/shared/workspaces/import-service";
import { MAX_ACCOUNTS, MAX_KNOWN_ACCOUNTS } from "#src/operations/connections.ts";

export const IMPORT_RULES: ImportRules = {
  accounts: {
    columns: {
      platform: isPlatformId,
      // Each platform has some ten permissions and at most one trait.
      permissions: list(50, text(200)),
      traits: record(10, text(200)),
    },
    // Grants that name a connected account may have taken the workspace above its limits.
    max: [
      { count: 3 * MAX_ACCOUNTS, where: "status <> 'disconnected'" },
      { count: MAX_KNOWN_ACCOUNTS + MAX_ACCOUNTS, where: "true" },
    ],
  },
  account_settings: { columns: { settings: anyObject } },
};
