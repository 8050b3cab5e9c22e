import { altTextLimit, type PlatformRules } from "#src/rules.ts";
import { type Failure, refused } from "./outcome.ts";
import type { PublicationMedia } from "./publication.ts";

/** The description may have been changed after the post was accepted; it is never shortened. */
export function refuseLongAltText(
  rules: PlatformRules,
  { kind, altText }: PublicationMedia,
): Failure | undefined {
  const [length, limit] = [altText?.length ?? 0, altTextLimit(rules, kind)];
  if (limit === undefined || length <= limit) return undefined;
  return refused(
    "content_rejected",
    `the description of the ${kind} has ${length} characters; ${rules.displayName} allows ${limit}`,
  );
}
