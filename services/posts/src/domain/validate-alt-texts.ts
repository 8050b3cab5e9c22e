import type { PlatformRules } from "@postrider/platforms/rules";
import { altTextLimit } from "@postrider/platforms/text/alt-text-limit";
import type { TargetInput, TargetViolation } from "./post.ts";
import { above } from "./validate-media.ts";

/** Checks the descriptions of media against the limit of one platform. Platforms without descriptions ignore them. */
export function validateAltTexts({ media }: TargetInput, rules: PlatformRules): TargetViolation[] {
  return media.flatMap(({ kind, altText }, index) => {
    const violation = { code: "alt_text_too_long", field: "media", index } as const;
    return above(violation, altText?.length ?? 0, altTextLimit(rules, kind));
  });
}
