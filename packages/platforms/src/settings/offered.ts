import type { PlatformId } from "#src/registry.ts";
import type { ValueFault } from "./check-value.ts";
import type { SettingValues } from "./patch.ts";

/** The settings of TikTok that let people do something, which TikTok can take away from an account. */
const FLAGS = ["allowComment", "allowDuet", "allowStitch"];

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
  const audiences = Array.isArray(available.audiences) ? available.audiences.map(String) : [];
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
