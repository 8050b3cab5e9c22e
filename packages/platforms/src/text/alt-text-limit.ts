import type { PlatformRules } from "#src/rules.ts";

/** Returns the maximum length of the description of a file in UTF-16 units; undefined when the platform states none, or takes none. */
export function altTextLimit(rules: PlatformRules, kind: "image" | "video"): number | undefined {
  return kind === "image" ? rules.media.altTextMax : rules.video.altTextMax;
}
