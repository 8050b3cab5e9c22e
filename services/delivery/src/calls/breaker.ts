/**
 * Returns how long a breaker that has just opened, or whose probe has failed, waits before it lets
 * the next probe through.
 *
 * @param waitsMs The waits before the first probe, the second, and so on; the last one repeats.
 */
export function probeWaitMs(failedProbes: number, waitsMs: readonly number[]): number {
  return waitsMs[Math.min(failedProbes, waitsMs.length - 1)] ?? 0;
}

export interface BreakerPolicy {
  /**
   * Number of unknown outcomes in a row, of at least two accounts, after which further calls are
   * held (not sent); with 0, calls are never held.
   */
  readonly holdAfterUnknowns: number;
  /** Waits before the first probe, the second, and so on; the last one repeats. */
  readonly probeMs: readonly number[];
}

/**
 * Decides whether publishing calls to a platform are held. While they are, only probes are sent,
 * one call at a time, until the platform answers one of them. The calls of a single account never
 * cause a hold, because the cause may be the server of that account, as on Bluesky; instead, only
 * that account is paused.
 */
export interface PlatformBreaker {
  readonly platform: string;
  readonly unknownsInRow: number;
  /** The account of the first unknown outcome in the row; null if there is none. */
  readonly accountId: string | null;
  readonly isSeveralAccounts: boolean;
  readonly failedProbes: number;
  readonly heldSince: Date | null;
  /** When the next probe may be sent; null while calls are not held. */
  readonly probeAt: Date | null;
}

/** What the outcome of a publishing call says about its platform. */
export interface CallSignal {
  /**
   * Whether the platform answered; false if the outcome of the call is unknown, undefined if the
   * outcome says nothing about that.
   */
  readonly isAnswered: boolean | undefined;
  readonly accountId: string;
  readonly calledAt: Date | null;
}

/**
 * Returns the breaker state of a healthy platform: publishing calls are not held, and no outcome
 * has been unknown since the platform's last answer.
 */
export function closedBreaker(platform: string): PlatformBreaker {
  const row = { unknownsInRow: 0, accountId: null, isSeveralAccounts: false };
  return { platform, ...row, failedProbes: 0, heldSince: null, probeAt: null };
}

function nextProbeAt(
  { failedProbes }: PlatformBreaker,
  now: Date,
  { probeMs }: BreakerPolicy,
): Date {
  return new Date(now.getTime() + probeWaitMs(failedProbes, probeMs));
}

function afterProbe(breaker: PlatformBreaker, now: Date, policy: BreakerPolicy): PlatformBreaker {
  return { ...breaker, probeAt: nextProbeAt(breaker, now, policy) };
}

/**
 * Returns the breaker after a probe that did not show whether the platform answers. The next probe
 * is due after the wait that belongs to the number of failed probes, or at the time that was
 * planned before, if that is earlier.
 */
function afterVoidProbe(
  breaker: PlatformBreaker,
  now: Date,
  policy: BreakerPolicy,
): PlatformBreaker {
  const probeAt = nextProbeAt(breaker, now, policy);
  return breaker.probeAt !== null && breaker.probeAt <= probeAt ? breaker : { ...breaker, probeAt };
}

function isProbe({ calledAt }: CallSignal, { heldSince }: PlatformBreaker): boolean {
  // A publishing call that was sent before calls to the platform were held is not a probe, so it
  // does not delay the next probe.
  return calledAt !== null && heldSince !== null && calledAt > heldSince;
}

function countUnknown(breaker: PlatformBreaker, { accountId }: CallSignal): PlatformBreaker {
  const first = breaker.accountId ?? accountId;
  return {
    ...breaker,
    unknownsInRow: breaker.unknownsInRow + 1,
    accountId: first,
    isSeveralAccounts: breaker.isSeveralAccounts || first !== accountId,
  };
}

function isToBeHeld(breaker: PlatformBreaker, { holdAfterUnknowns }: BreakerPolicy): boolean {
  return breaker.isSeveralAccounts && breaker.unknownsInRow >= holdAfterUnknowns;
}

function next(
  breaker: PlatformBreaker,
  signal: CallSignal,
  now: Date,
  policy: BreakerPolicy,
): PlatformBreaker {
  if (signal.isAnswered === true || policy.holdAfterUnknowns === 0)
    return closedBreaker(breaker.platform);
  if (signal.isAnswered === undefined)
    return isProbe(signal, breaker) ? afterVoidProbe(breaker, now, policy) : breaker;
  const counted = countUnknown(breaker, signal);
  if (counted.heldSince === null)
    return isToBeHeld(counted, policy)
      ? afterProbe({ ...counted, heldSince: now }, now, policy)
      : counted;
  return isProbe(signal, counted)
    ? afterProbe({ ...counted, failedProbes: counted.failedProbes + 1 }, now, policy)
    : counted;
}

/**
 * Returns the new breaker of a platform, which decides whether its publishing calls are held, after
 * publishing calls have ended, in the order of `signals`.
 */
export function nextBreaker(
  breaker: PlatformBreaker,
  signals: readonly CallSignal[],
  now: Date,
  policy: BreakerPolicy,
): PlatformBreaker {
  return signals.reduce((before, signal) => next(before, signal, now, policy), breaker);
}

/**
 * Whether two states of a platform's breaker, which decides whether its publishing calls are held,
 * are the same.
 */
export function isSameBreaker(a: PlatformBreaker, b: PlatformBreaker): boolean {
  return (
    a.unknownsInRow === b.unknownsInRow &&
    a.failedProbes === b.failedProbes &&
    a.heldSince?.getTime() === b.heldSince?.getTime() &&
    a.probeAt?.getTime() === b.probeAt?.getTime()
  );
}
