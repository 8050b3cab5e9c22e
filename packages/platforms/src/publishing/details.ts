import type { Handles } from "./handles.ts";
import type { Caveat } from "./outcome.ts";

export type Details =
  | { readonly kind: "found"; readonly externalId: string; readonly permalink: string | null }
  /** To be asked again, `afterMs` later at the earliest; `handles` are added to the stored ones. */
  | {
      readonly kind: "not_yet";
      readonly afterMs?: number;
      readonly handles?: Handles;
      readonly caveat?: Caveat;
    }
  | { readonly kind: "never"; readonly caveat?: Caveat };

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
/** The platform assigns the id after it has moderated the post, which takes minutes or hours. */
const WAITS_MS = [2, 3, 5, 10, 30, 60, 120, 300, 600, 1800].map((seconds) => seconds * SECOND_MS);
const MAX_AGE_MS = 24 * HOUR_MS;

export function nextQuestionMs(
  { askedCount, ageMs }: { readonly askedCount: number; readonly ageMs: number },
  timeScale: number,
): number | undefined {
  if (ageMs >= MAX_AGE_MS * timeScale) return undefined;
  const waitMs = WAITS_MS[Math.min(askedCount, WAITS_MS.length) - 1] ?? 0;
  return Math.max(SECOND_MS / 10, waitMs * timeScale);
}
