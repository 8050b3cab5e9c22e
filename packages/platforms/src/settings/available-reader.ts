import type { JsonObject } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { SettingValues, ValueFault } from "#src/settings/read-settings.ts";

/** Such as TikTok's privacy levels; or why they are not known. */
export type AvailableReading =
  | { readonly kind: "available"; readonly values: JsonObject }
  | { readonly kind: "failed"; readonly message: string };

export type AvailableReader = (
  account: AccountAccess,
  signal: AbortSignal,
) => Promise<AvailableReading>;

export interface Offer {
  readonly privacies?: readonly string[];
  readonly maxVideoSeconds?: number;
}

/** How what a platform offers an account limits its posts and settings. */
export interface OfferRules {
  /** `available` is undefined when nothing recent is known. */
  readonly read: (available: JsonObject | undefined, settings: SettingValues | undefined) => Offer;
  readonly findUnoffered: (
    patch: SettingValues,
    available: JsonObject | null,
  ) => readonly ValueFault[];
}
