import type { PlatformId } from "#src/registry.ts";
import type { ValueFault } from "./check-value.ts";
import type { SettingValues } from "./patch.ts";
import { readSettings } from "./read-settings.ts";

/** The settings of TikTok that let people do something, which TikTok can take away from an account. */
const FLAGS = ["allowComment", "allowDuet", "allowStitch"];

/** What a platform offers posts of an account; an absent field is not known or not limited. */
export interface Offer {
  /** Values of the privacy of a post. */
  readonly privacies?: readonly string[];
  readonly maxVideoSeconds?: number;
}

/**
 * Returns what the platform offered posts of an account when it was last asked.
 *
 * @param available As the platform's `AvailableReader` returned it; undefined when nothing recent is known.
 * @param settings The settings that the workspace chose for the account.
 */
export function readOffer(
  platform: PlatformId,
  available: Readonly<Record<string, unknown>> | undefined,
  settings: SettingValues | undefined,
): Offer {
  if (platform !== "tiktok" || available === undefined) return {};
  const { maxVideoSeconds } = available;
  const audiences = toAudiences(available);
  const { unlistedAs } = readSettings("tiktok", settings);
  const privacies = audiences.flatMap((audience) => [
    audience === "only_me" ? "private" : audience,
    ...(audience === unlistedAs ? ["unlisted"] : []),
  ]);
  return {
    ...(privacies.length === 0 ? {} : { privacies }),
    ...(typeof maxVideoSeconds === "number" ? { maxVideoSeconds } : {}),
  };
}

function toAudiences({ audiences }: Readonly<Record<string, unknown>>): readonly string[] {
  return Array.isArray(audiences) ? audiences.map(String) : [];
}

/**
 * Returns the values in a checked JSON merge patch that the platform does not offer the account at the moment, because it would
 * refuse posts with them.
 *
 * @param available What the platform offers the account, as its `AvailableReader` returned it; null when it did not answer.
 */
export function findUnoffered(
  platform: PlatformId,
  patch: SettingValues,
  available: Readonly<Record<string, unknown>> | null,
): readonly ValueFault[] {
  if (platform !== "tiktok" || available === null) return [];
  const audiences = toAudiences(available);
  const { unlistedAs } = patch;
  const isUnoffered = typeof unlistedAs === "string" && !audiences.includes(unlistedAs);
  const allowed = audiences.filter((audience) => audience !== "public");
  return [
    ...(isUnoffered ? [{ code: "not_allowed", path: "/unlistedAs", allowed } as const] : []),
    ...FLAGS.filter((name) => patch[name] === true && available[name] === false).map(
      (name) => ({ code: "not_allowed", path: `/${name}`, allowed: ["false"] }) as const,
    ),
  ];
}
