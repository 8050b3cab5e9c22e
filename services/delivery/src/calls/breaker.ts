/** @param waitsMs Before the first probe, the second, and so on; the last one repeats. */
export function probeWaitMs(failedProbes: number, waitsMs: readonly number[]): number {
  return waitsMs[Math.min(failedProbes, waitsMs.length - 1)] ?? 0;
}

export interface BreakerPolicy {
  /** Of at least two accounts; then calls are held (not sent). 0: calls are never held. */
  readonly holdAfterUnknowns: number;
  readonly probeMs: readonly number[];
}

/**
 * While calls are held, only probes are sent, one at a time, until the platform answers one. A
 * single account never causes a hold, because the cause may be its own server, as on Bluesky; only
 * that account is paused.
 */
export interface PlatformBreaker {
  readonly platform: string;
  readonly unknownsInRow: number;
  /** Of the first unknown outcome in the row. */
  readonly accountId: string | null;
  readonly isSeveralAccounts: boolean;
  readonly failedProbes: number;
  readonly heldSince: Date | null;
  /** Null while calls are not held. */
  readonly probeAt: Date | null;
}

export interface CallSignal {
  /** False if the outcome is unknown, undefined if it says nothing about the platform. */
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

/** The next probe is due after its wait or at the planned time, whichever is earlier. */
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

/** In the order of `signals`. */
export function nextBreaker(
  breaker: PlatformBreaker,
  signals: readonly CallSignal[],
  now: Date,
  policy: BreakerPolicy,
): PlatformBreaker {
  return signals.reduce((before, signal) => next(before, signal, now, policy), breaker);
}

export function isSameBreaker(a: PlatformBreaker, b: PlatformBreaker): boolean {
  return (
    a.unknownsInRow === b.unknownsInRow &&
    a.failedProbes === b.failedProbes &&
    a.heldSince?.getTime() === b.heldSince?.getTime() &&
    a.probeAt?.getTime() === b.probeAt?.getTime()
  );
}
