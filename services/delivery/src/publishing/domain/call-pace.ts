/** How long an answer to a publishing call shows that a platform answers, in milliseconds. */
const FRESH_MS = 10_000;
/** Maximum number of open publishing calls of a process to a platform that has not answered one recently. */
const MAX_UNPROVEN_CALLS = 4;

/** What is known from the latest publishing calls of a process to a platform. */
export interface LastAnswer {
  /** When the platform last answered a call, by the monotonic clock, in milliseconds; undefined if it never did. */
  readonly answeredAt: number | undefined;
  /** Whether a call had an unknown outcome since the last answer. */
  readonly isUnanswered: boolean;
}

/**
 * Returns how many publishing calls of a process to a platform may be open at a time. A platform that has just answered
 * may get any number. Otherwise only a few calls find out whether it answers, so that many targets that are due at once
 * do not all end with an unknown outcome; after an unknown outcome, one call at a time.
 */
export function maxOpenCalls({ answeredAt, isUnanswered }: LastAnswer, now: number): number {
  if (isUnanswered) return 1;
  const isFresh = answeredAt !== undefined && now - answeredAt < FRESH_MS;
  return isFresh ? Number.POSITIVE_INFINITY : MAX_UNPROVEN_CALLS;
}
