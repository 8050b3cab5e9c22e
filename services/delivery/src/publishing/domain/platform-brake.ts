import type { TargetErrorCode } from "@postrider/platforms/publishing/outcome";
import type { CallOutcome } from "#src/calls/call-event.ts";
import type { Decision } from "#src/calls/call.ts";
import type { Task, TaskEvent } from "./task.ts";

/** Settings that decide when publishing calls to a platform are held (not sent) because earlier ones got no answer. */
export interface BrakePolicy {
  /**
   * Number of publishing calls in a row with an unknown outcome, of at least two accounts, after which further calls to the
   * platform are held; with 0, calls are never held.
   */
  readonly holdAfterUnknowns: number;
  /**
   * Waits in milliseconds before the first, second and further probes of a platform; the last value is the wait before
   * each later probe. A probe is a publishing call that tests whether the platform answers again.
   */
  readonly probeMs: readonly number[];
}

/**
 * The brake of a platform: the state that decides whether its publishing calls are held. Calls are held after several
 * calls in a row with an unknown outcome. Then only probes are sent, one publishing call at a time, until the platform
 * answers one of them. The calls of a single account never cause a hold, because the cause may be the server of that
 * account, as on Bluesky; instead, only that account is paused.
 */
export interface PlatformBrake {
  readonly platform: string;
  readonly unknownsInRow: number;
  /** The account of the first of the calls in a row with an unknown outcome; null if there is none. */
  readonly accountId: string | null;
  /** Whether the calls in a row with an unknown outcome belong to more than one account. */
  readonly isSeveralAccounts: boolean;
  /** Number of probes (calls that test whether the platform answers again) that had an unknown outcome in this hold. */
  readonly failedProbes: number;
  readonly heldSince: Date | null;
  /**
   * Time from which the next probe (a call that tests whether the platform answers again) may be sent; null while
   * publishing calls to the platform are not held.
   */
  readonly probeAt: Date | null;
}

/** What the outcome of a publishing call says about its platform. */
export interface CallSignal {
  /**
   * Whether the platform answered; false if the outcome of the call is unknown, undefined if the outcome says nothing
   * about that.
   */
  readonly isAnswered: boolean | undefined;
  readonly accountId: string;
  readonly calledAt: Date | null;
}

/** Error codes of calls that published nothing and do not show that the platform answers publishing calls. */
const WITHOUT_ANSWER: ReadonlySet<TargetErrorCode> = new Set<TargetErrorCode>([
  "platform_unavailable",
  "internal_error",
]);

export function isAnswer(outcome: CallOutcome): boolean | undefined {
  switch (outcome.kind) {
    case "unknown":
      return false;
    case "not_sent":
      return undefined;
    case "retryable":
      return WITHOUT_ANSWER.has(outcome.code) ? undefined : true;
    case "published":
    case "done":
    case "pending":
    case "refused":
    case "token_refused":
      return true;
  }
}

/** Whether the event is about the open publishing call of the task; `calledAt` of the task is then the time of this call. */
function isOfOpenCall(
  event: Extract<TaskEvent, { kind: "called" | "mark_lost" }>,
  { status, callNumber, fence }: Task,
): boolean {
  const isOfWorker = event.kind === "called" || event.fence === fence;
  return isOfWorker && status === "calling" && callNumber === event.callNumber;
}

/**
 * Returns what an event about a publish task, in its state before the event, says about the platform. A lost call says
 * nothing: when it is found to be lost, the next probe is due anyway.
 */
function toSignal(event: TaskEvent, task: Task): (CallSignal & Pick<Task, "platform">) | undefined {
  if (event.kind !== "called" && event.kind !== "mark_lost") return undefined;
  if (event.isForeignHost === true) return undefined;
  const isAnswered = event.kind === "called" ? isAnswer(event.outcome) : undefined;
  if (isAnswered === undefined && !isOfOpenCall(event, task)) return undefined;
  const { platform, accountId, calledAt } = task;
  return { platform, isAnswered, accountId, calledAt };
}

/** Returns, by platform, what the outcomes of publishing calls say about whether the platform answers. */
export function toSignals(
  decisions: ReadonlyMap<TaskEvent, Decision<Task>>,
): ReadonlyMap<string, readonly CallSignal[]> {
  const signals = [...decisions].flatMap(([event, { call }]) => toSignal(event, call) ?? []);
  return Map.groupBy(signals, ({ platform }) => platform);
}

/**
 * Returns the brake of a platform whose publishing calls are not held, with no unknown outcome since the platform's last
 * answer.
 */
export function releasedBrake(platform: string): PlatformBrake {
  const row = { unknownsInRow: 0, accountId: null, isSeveralAccounts: false };
  return { platform, ...row, failedProbes: 0, heldSince: null, probeAt: null };
}

function nextProbeAt({ failedProbes }: PlatformBrake, now: Date, { probeMs }: BrakePolicy): Date {
  const waitMs = probeMs[Math.min(failedProbes, probeMs.length - 1)] ?? 0;
  return new Date(now.getTime() + waitMs);
}

function afterProbe(brake: PlatformBrake, now: Date, policy: BrakePolicy): PlatformBrake {
  return { ...brake, probeAt: nextProbeAt(brake, now, policy) };
}

/**
 * Returns the brake after a probe that did not show whether the platform answers. The next probe is due after the wait
 * that belongs to the number of failed probes, or at the time that was planned before, if that is earlier.
 */
function afterVoidProbe(brake: PlatformBrake, now: Date, policy: BrakePolicy): PlatformBrake {
  const probeAt = nextProbeAt(brake, now, policy);
  return brake.probeAt !== null && brake.probeAt <= probeAt ? brake : { ...brake, probeAt };
}

function isProbe({ calledAt }: CallSignal, { heldSince }: PlatformBrake): boolean {
  // A publishing call that was sent before calls to the platform were held is not a probe, so it does not delay the
  // next probe.
  return calledAt !== null && heldSince !== null && calledAt > heldSince;
}

function countUnknown(brake: PlatformBrake, { accountId }: CallSignal): PlatformBrake {
  const first = brake.accountId ?? accountId;
  return {
    ...brake,
    unknownsInRow: brake.unknownsInRow + 1,
    accountId: first,
    isSeveralAccounts: brake.isSeveralAccounts || first !== accountId,
  };
}

function isToBeHeld(brake: PlatformBrake, { holdAfterUnknowns }: BrakePolicy): boolean {
  return brake.isSeveralAccounts && brake.unknownsInRow >= holdAfterUnknowns;
}

function next(
  brake: PlatformBrake,
  signal: CallSignal,
  now: Date,
  policy: BrakePolicy,
): PlatformBrake {
  if (signal.isAnswered === true || policy.holdAfterUnknowns === 0)
    return releasedBrake(brake.platform);
  if (signal.isAnswered === undefined)
    return isProbe(signal, brake) ? afterVoidProbe(brake, now, policy) : brake;
  const counted = countUnknown(brake, signal);
  if (counted.heldSince === null)
    return isToBeHeld(counted, policy)
      ? afterProbe({ ...counted, heldSince: now }, now, policy)
      : counted;
  return isProbe(signal, counted)
    ? afterProbe({ ...counted, failedProbes: counted.failedProbes + 1 }, now, policy)
    : counted;
}

/**
 * Returns the new brake of a platform, which decides whether its publishing calls are held, after publishing calls have ended,
 * in the order of `signals`.
 */
export function nextBrake(
  brake: PlatformBrake,
  signals: readonly CallSignal[],
  now: Date,
  policy: BrakePolicy,
): PlatformBrake {
  return signals.reduce((before, signal) => next(before, signal, now, policy), brake);
}

/** Whether two states of a platform's brake, which decides whether its publishing calls are held, are the same. */
export function isSameBrake(a: PlatformBrake, b: PlatformBrake): boolean {
  return (
    a.unknownsInRow === b.unknownsInRow &&
    a.failedProbes === b.failedProbes &&
    a.heldSince?.getTime() === b.heldSince?.getTime() &&
    a.probeAt?.getTime() === b.probeAt?.getTime()
  );
}
