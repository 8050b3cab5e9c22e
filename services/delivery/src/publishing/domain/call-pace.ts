/** For this long after it has answered a publishing call, a platform counts as one that answers, in milliseconds. */
const FRESH_MS = 10_000;
/**
 * Maximum number of open publishing calls of a process to a platform that has not answered a publishing call recently.
 */
const MAX_UNPROVEN_CALLS = 4;

/** What a process knows from its latest publishing calls to a platform. */
export interface LastAnswer {
  /**
   * When the platform last answered a publishing call, in milliseconds of the monotonic clock; undefined if it never
   * did.
   */
  readonly answeredAt: number | undefined;
  /** Whether a publishing call has ended with an unknown outcome since the platform's last answer. */
  readonly isUnanswered: boolean;
}

/**
 * Returns how many publishing calls of a process to a platform may be open at a time. A platform that has just answered
 * may get any number. Otherwise only a few calls are sent to find out whether the platform answers, so that many
 * targets that are due at once do not all end with an unknown outcome. After a call with an unknown outcome, only one
 * call may be open.
 */
export function maxOpenCalls({ answeredAt, isUnanswered }: LastAnswer, now: number): number {
  if (isUnanswered) return 1;
  const isFresh = answeredAt !== undefined && now - answeredAt < FRESH_MS;
  return isFresh ? Number.POSITIVE_INFINITY : MAX_UNPROVEN_CALLS;
}
