import type { UnknownCall } from "#src/publishing/verdict.ts";

/**
 * Creates test data: a publishing call of the last second with an unknown outcome, before the first
 * search for its post. The waits between the searches are a thousandth of those in production.
 */
export function unknownCall(given: Partial<UnknownCall> = {}): UnknownCall {
  const now = new Date();
  return {
    calledAt: new Date(now.getTime() - 1000),
    callUntil: now,
    looks: 0,
    now,
    timeScale: 0.001,
    isOwned: () => Promise.resolve(new Set()),
    hasPostWithoutId: () => Promise.resolve(false),
    hasSimilarPost: () => Promise.resolve(false),
    ...given,
  };
}
