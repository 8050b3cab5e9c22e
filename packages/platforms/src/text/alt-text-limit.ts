import type { PlatformRules } from "#src/rules.ts";

export function altTextLimit(rules: PlatformRules, kind: "image" | "video"): number | undefined {
  return kind === "image" ? rules.media.altTextMax : rules.video.altTextMax;
}
