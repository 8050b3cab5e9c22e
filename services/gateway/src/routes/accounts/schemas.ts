import { PLATFORM_IDS, type PlatformId } from "@postrider/platforms/platform-id";
import { PLATFORM_FACTS } from "@postrider/platforms/registry";
import { patchSchema, settingsSchemaOf } from "@postrider/platforms/settings/json-schema";
import type { SettingValues } from "@postrider/platforms/settings/read-settings";
import { Account } from "@postrider/rest/accounts/schemas";
import { Id, ref } from "@postrider/rest/schemas";
import { Type } from "typebox";

/** The options that TikTok allows an account at the moment, for example who may see its posts. */
const TiktokAvailable = Type.Unsafe<Record<string, unknown>>({
  type: ["object", "null"],
  description:
    "What TikTok offers the account now, at most 15 seconds old; null when TikTok does not say it.",
  properties: {
    audiences: Type.Array(
      Type.Unsafe<string>({ type: "string", enum: ["public", "followers", "friends", "only_me"] }),
      {
        description:
          "Who can be allowed to see posts. `only_me` is the privacy `private`; `unlistedAs` can be one of the others.",
      },
    ),
    allowComment: Type.Boolean({ description: "Whether the account can allow comments." }),
    allowDuet: Type.Boolean({ description: "Whether the account can allow duets." }),
    allowStitch: Type.Boolean({ description: "Whether the account can allow stitches." }),
    maxVideoSeconds: Type.Unsafe<number | null>({
      type: ["integer", "null"],
      description: "Maximum length of a video.",
    }),
  },
});

const NothingAvailable = Type.Unsafe<null>({
  type: ["object", "null"],
  description: "Null, because the platform offers every account the same.",
});

function settingsOf(platform: PlatformId) {
  const { rules, settings } = PLATFORM_FACTS[platform];
  const name = rules.displayName.replaceAll(/\W/g, "");
  return Type.Object(
    {
      accountId: Id,
      platform: Type.Unsafe<string>({ type: "string", enum: [platform] }),
      settings: Type.Unsafe<SettingValues>({ ...settingsSchemaOf(settings) }),
      available: platform === "tiktok" ? TiktokAvailable : NothingAvailable,
    },
    { $id: `${name}AccountSettings` },
  );
}

const BY_PLATFORM = PLATFORM_IDS.map(settingsOf);

export const AccountSettings = Type.Unsafe<Record<string, unknown>>({
  $id: "AccountSettings",
  anyOf: BY_PLATFORM.map((schema) => ref(schema)),
});

export const AccountSettingsPatch = Type.Unsafe<SettingValues>({
  $id: "AccountSettingsPatch",
  ...patchSchema(PLATFORM_IDS.map((id) => PLATFORM_FACTS[id].settings)),
  description:
    "The settings to change, each of the account's platform; the others stay as they are. Null resets a setting to its default.",
});

export const ACCOUNT_SETTINGS_SCHEMAS = [...BY_PLATFORM, AccountSettings, AccountSettingsPatch];

export const AccountList = Type.Object(
  { accounts: Type.Array(ref(Account)) },
  { $id: "AccountList" },
);

/** They say whether the platform was asked to revoke Postrider's permission. */
export const REVOCATION_HEADERS = {
  "X-Provider-Revocation": {
    type: "string",
    enum: ["not_attempted", "unconfirmed"],
    description: "Whether the platform was asked to revoke the permission.",
  },
  "X-Provider-Revocation-Reason": {
    type: "string",
    enum: ["app_wide_grant", "not_verified", "not_configured", "already_disconnected"],
    description: "Why the platform was not asked; only with not_attempted.",
  },
};
