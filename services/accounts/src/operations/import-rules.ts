import { isPlatformId } from "@postrider/platforms/platform-id";
import { anyObject, text, values } from "@postrider/shared/workspaces/column-checks";
import type { ImportRules } from "@postrider/shared/workspaces/import-service";

/** The settings of an account are some hundred bytes. */
const MAX_SETTINGS_BYTES = 16 * 1024;

export const IMPORT_RULES: ImportRules = {
  accounts: {
    columns: {
      platform: text(20, isPlatformId),
      permissions: values(200, text(2048)),
      traits: values(50, text(2048)),
    },
    // One grant of a login, of at most 1,000, may have taken a workspace above its 10,000.
    max: { count: 11_000, where: "true" },
  },
  account_settings: {
    columns: { settings: anyObject(MAX_SETTINGS_BYTES) },
  },
};
