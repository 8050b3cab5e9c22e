import type { Caveat } from "./outcome.ts";

/**
 * The result of the work that remained for a published post, such as asking the platform for the id and the permalink of a
 * post that was published without an id.
 */
export type Details =
  | { readonly kind: "found"; readonly externalId: string; readonly permalink: string | null }
  /** The platform has not assigned an id to the published post yet, or could not be reached. */
  | { readonly kind: "not_yet" }
  /** The platform refused definitely. The post shows the caveat, if any. */
  | { readonly kind: "never"; readonly caveat?: Caveat };

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
/**
 * Waits in milliseconds between requests for the id of a published post. The platform assigns the id after it has
 * moderated the post, which takes minutes or hours.
 */
const WAITS_MS = [2, 3, 5, 10, 30, 60, 120, 300, 600, 1800].map((seconds) => seconds * SECOND_MS);
/** Age in milliseconds of a published post after which the platform is no longer asked for its id. */
const MAX_AGE_MS = 24 * HOUR_MS;

/**
 * Returns the milliseconds until the platform is asked again for the id of a published post; undefined when the post is
 * too old to ask again.
 */
export function nextQuestionMs(
  { askedCount, ageMs }: { readonly askedCount: number; readonly ageMs: number },
  timeScale: number,
): number | undefined {
  if (ageMs >= MAX_AGE_MS * timeScale) return undefined;
  const waitMs = WAITS_MS[Math.min(askedCount, WAITS_MS.length) - 1] ?? 0;
  return Math.max(SECOND_MS / 10, waitMs * timeScale);
}
