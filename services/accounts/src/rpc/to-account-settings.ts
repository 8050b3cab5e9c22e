import type { MessageInitShape } from "@bufbuild/protobuf";
import type { AccountSettingsSchema } from "@postrider/contracts/accounts/v1/account_settings_service_pb";
import { isPlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { readSettings, type SettingValues } from "@postrider/platforms/settings/read-settings";
import type { AccountKey } from "#src/db/accounts.ts";
import type { Dependencies } from "#src/operations/dependencies.ts";

/** All settings of the platform, and the options that it offers the account now. */
export async function toAccountSettings(
  { readAvailable }: Pick<Dependencies, "readAvailable">,
  key: AccountKey,
  { platform, settings }: { readonly platform: string; readonly settings: SettingValues },
): Promise<MessageInitShape<typeof AccountSettingsSchema>> {
  const available = await readAvailable(key, platform);
  return {
    accountId: key.accountId,
    platform,
    settings: JSON.stringify(
      isPlatformId(platform) ? readSettings(PLATFORM_FACTS[platform].settings, settings) : {},
    ),
    available: available === null ? "" : JSON.stringify(available),
  };
}
