import type { JsonObject } from "#src/http/platform-answer.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { ValueFault } from "./check-value.ts";
import type { SettingValues } from "./patch.ts";

/**
 * The values that the platform lets an account choose from for its posts now, such as TikTok's privacy levels, as the
 * REST API returns them; or why they are not known.
 */
export type AvailableReading =
  | { readonly kind: "available"; readonly values: JsonObject }
  | { readonly kind: "failed"; readonly message: string };

/** Asks the platform which values it lets an account choose from for its posts now. */
export type AvailableReader = (
  account: AccountAccess,
  signal: AbortSignal,
) => Promise<AvailableReading>;

/** What a platform offers posts of an account; an absent field is not known or not limited. */
export interface Offer {
  /** Values of the privacy of a post. */
  readonly privacies?: readonly string[];
  readonly maxVideoSeconds?: number;
}

/** How what a platform offers an account limits the account's posts and settings. */
export interface OfferRules {
  /**
   * Returns what the platform offered posts of an account when it was last asked.
   *
   * @param available As the platform's `AvailableReader` returned it; undefined when nothing recent is known.
   * @param settings The settings that the workspace chose for the account.
   */
  readonly read: (available: JsonObject | undefined, settings: SettingValues | undefined) => Offer;
  /**
   * Returns the values in a checked JSON merge patch that the platform does not offer the account at the moment, because it
   * would refuse posts with them.
   *
   * @param available As the platform's `AvailableReader` returned it; null when the platform did not answer.
   */
  readonly findUnoffered: (
    patch: SettingValues,
    available: JsonObject | null,
  ) => readonly ValueFault[];
}
