/** What asking for the details of a publication came to. */
export type Details =
  | { readonly kind: "found"; readonly externalId: string; readonly permalink: string | null }
  /** Not given yet, or the platform could not be asked. */
  | { readonly kind: "not_yet" }
  | { readonly kind: "never" };

const SECOND_MS = 1000;
const HOUR_MS = 3_600_000;
/** Moderation takes minutes, or hours. */
const WAITS_MS = [2, 3, 5, 10, 30, 60, 120, 300, 600, 1800].map((seconds) => seconds * SECOND_MS);
const GIVE_UP_MS = 24 * HOUR_MS;

/** Milliseconds until the next question after so many, or undefined when it is not worth one any more. */
export function nextQuestionMs(
  { askedCount, ageMs }: { readonly askedCount: number; readonly ageMs: number },
  timeScale: number,
): number | undefined {
  if (ageMs >= GIVE_UP_MS * timeScale) return undefined;
  const waitMs = WAITS_MS[Math.min(askedCount, WAITS_MS.length) - 1] ?? 0;
  return Math.max(SECOND_MS / 10, waitMs * timeScale);
}
