import type {
  Failure,
  Outcome,
  Pending,
  Published,
  TargetErrorCode,
  Unknown,
} from "@postrider/platforms/publishing/outcome";
import type { Verdict } from "@postrider/platforms/publishing/verdict";
import { DEFAULT_LIMIT_MS, nextRetryMs } from "#src/domain/retry-wait.ts";
import type { CallEvent, CallOutcome } from "./call-event.ts";
import {
  isFinal,
  type AccountEffect,
  type Attempt,
  type AttemptOutcome,
  type Call,
  type CallChange,
  type CallErrorCode,
  type CallPolicy,
  type CallStatus,
  type Decision,
  type Snapshot,
} from "./call.ts";

// This file is longer than others on purpose: whether a call is sent again is one decision. What
// becomes of an unknown outcome is read here from top to bottom, without a second file.

type Fenced = Extract<CallEvent, { kind: keyof typeof LEASED_IN }>;
type Called = Extract<CallEvent, { kind: "called" }>;
type MarkLost = Extract<CallEvent, { kind: "mark_lost" }>;
type NotDone = Exclude<Outcome, Published>;
type Retryable = Extract<Failure, { kind: "retryable" }>;
type Absent = Extract<Verdict, { kind: "absent" }>;
type LookAgain = Extract<Verdict, { kind: "look_again" }>;
type Ids = Pick<Published, "externalId" | "permalink" | "askLater" | "caveat">;

interface Fault {
  readonly code: CallErrorCode;
  readonly message: string;
}

const MARK_LOST_MS = 1_000;
/** So that the service that asked first learns that a call reported as failed is open again. */
const REOPEN_MS = 5_000;
/** How long after `sendBefore` a platform that does not answer is still searched. */
const GIVE_UP_MS = 60 * 60_000;
/** The platform refuses the same content in every call. */
const ABOUT_CONTENT: ReadonlySet<CallErrorCode> = new Set<CallErrorCode>([
  "content_rejected",
  "media_rejected",
]);
const NO_IDS: Ids = { externalId: null, permalink: null };

const WORKER_LOST = "the worker stopped during the call of the platform";
const UNKNOWN = "the outcome of a call is unknown";
const STILL_UNKNOWN: Fault = {
  code: "outcome_unknown",
  message: "it could not be determined whether the platform published it",
};
const TOO_LATE: Fault = {
  code: "missed",
  message: "it was not published, and it is too late to send it",
};
const NEVER_PUBLISHED: Fault = {
  code: "platform_unavailable",
  message: "the platform did not publish it, however often it was sent",
};
const STATED_ABSENT = {
  code: "platform_unavailable",
  message: "a person looked on the platform and found that it was not published",
} as const;
const PLATFORM_HELD = {
  code: "platform_unavailable",
  message:
    "not sent: the platform left the latest publishing calls of several posts without an answer; the post is sent when the platform answers again",
} as const;

const LEASED_IN = {
  platform_held: ["working"],
  looked: ["reconciling"],
  step_failed: ["working"],
  given_up: ["working", "reconciling"],
  not_wanted: ["working"],
  tried: ["working"],
} as const satisfies Partial<Record<CallEvent["kind"], readonly CallStatus[]>>;

/** Only this function decides whether a call is sent, sent again, searched for or given up. */
export function decide<C extends Call>(snapshot: Snapshot<C>, event: CallEvent): Decision<C> {
  if (isFenced(event))
    return isLeased(snapshot.call, event) ? onWork(snapshot, event) : nothing(snapshot);
  switch (event.kind) {
    case "called":
      return onCalled(snapshot, event);
    case "call_lost":
      return onCallLost(snapshot, event.callNumber);
    case "mark_lost":
      return onMarkLost(snapshot, event);
    case "stated":
      return onStated(snapshot, event.published);
    case "trusted":
      return onTrusted(snapshot, event.firstCalledAt);
  }
}

function isFenced(event: CallEvent): event is Fenced {
  return event.kind in LEASED_IN;
}

function isLeased({ fence, status }: Call, event: Fenced): boolean {
  const statuses: readonly CallStatus[] = LEASED_IN[event.kind];
  return fence === event.fence && statuses.includes(status);
}

function onWork<C extends Call>(snapshot: Snapshot<C>, event: Fenced): Decision<C> {
  switch (event.kind) {
    case "tried":
      return onTried(snapshot, event.outcome);
    case "looked": {
      const { verdict, maxResends = snapshot.kind.maxResends } = event;
      return onKnownAlready(snapshot) ?? onVerdict(snapshot, verdict, maxResends);
    }
    case "platform_held":
      return onPlatformHeld(snapshot);
    case "step_failed":
      return onStepFailed(snapshot, event);
    case "given_up":
      return fail(snapshot, event);
    case "not_wanted":
      return changed(snapshot, end(snapshot, "dropped"), { isReported: false });
  }
}

function onStepFailed<C extends Call>(
  snapshot: Snapshot<C>,
  { failure, isKnownLimit = false }: Extract<Fenced, { kind: "step_failed" }>,
): Decision<C> {
  const { account, ...decision } = onFailure(snapshot, failure);
  return account === undefined || isKnownLimit ? decision : { ...decision, account };
}

function onTried<C extends Call>(snapshot: Snapshot<C>, outcome: CallOutcome): Decision<C> {
  return outcome.kind === "published" || outcome.kind === "done"
    ? onSuccess(snapshot, NO_IDS)
    : onCurrentCall(snapshot, outcome);
}

// --- The end of a call that was marked as begun

function onCalled<C extends Call>(snapshot: Snapshot<C>, event: Called): Decision<C> {
  const { outcome, callNumber } = event;
  const { attempt, call } = snapshot;
  const isOfCall = (attempt ?? call).callNumber === callNumber;
  const known = isOfCall && outcome.kind !== "unknown" ? withEndedCall(snapshot) : snapshot;
  // A success counts whichever call it belongs to.
  if (outcome.kind === "published") return onSuccess(known, outcome);
  if (outcome.kind === "done") return onSuccess(known, NO_IDS);
  if (!isOfCall) return nothing(snapshot);
  if (call.status === "calling" && call.callNumber === callNumber)
    return onCurrentCall(known, outcome);
  return isOpenQuestion(snapshot, callNumber)
    ? onLate(known, outcome)
    : onHistory(snapshot, outcome);
}

/** It can no longer arrive: a later call about the object need not wait for its deadline. */
function withEndedCall<C extends Call>(snapshot: Snapshot<C>): Snapshot<C> {
  const { call, kind, now } = snapshot;
  const isAhead = call.callUntil !== null && call.callUntil > now;
  return isAhead && kind.isRepeatable
    ? { ...snapshot, call: { ...call, callUntil: now } }
    : snapshot;
}

function onCurrentCall<C extends Call>(snapshot: Snapshot<C>, outcome: NotDone): Decision<C> {
  const { call, now } = snapshot;
  switch (outcome.kind) {
    case "unknown":
      // An account whose calls get no answer is paused like one whose calls fail.
      return { account: { kind: "failed" }, ...onUnknown(snapshot, outcome) };
    case "pending":
      return onPending(snapshot, outcome);
    case "not_sent":
      return changed(snapshot, requeue(call, now), {
        isReported: false,
        ...attemptWith(snapshot, null, {}, { isNotSent: true }),
      });
    case "refused":
    case "retryable":
    case "token_refused":
      return onFailure(snapshot, outcome);
  }
}

function onCallLost<C extends Call>(snapshot: Snapshot<C>, callNumber: number): Decision<C> {
  const { call, now } = snapshot;
  const isOver = call.callUntil !== null && call.callUntil <= now;
  if (call.status !== "calling" || call.callNumber !== callNumber || !isOver)
    return nothing(snapshot);
  return onKnownAlready(snapshot) ?? onUnknown(snapshot, { message: WORKER_LOST });
}

/**
 * If the mark was recorded, the call ends as not sent. If not, it is released: a statement that
 * still runs and would record the mark finds the call queued, and records nothing.
 */
function onMarkLost<C extends Call>(
  snapshot: Snapshot<C>,
  { fence, callNumber }: MarkLost,
): Decision<C> {
  const { call, attempt, now } = snapshot;
  const marked = attempt ?? call;
  // The fence is compared too, because another worker that has since claimed the call can have
  // marked the same number.
  if (marked.fence === fence && marked.callNumber === callNumber)
    return onCalled(snapshot, { kind: "called", callNumber, outcome: { kind: "not_sent" } });
  if (call.fence !== fence || call.status !== "working") return nothing(snapshot);
  return changed(snapshot, requeue(call, after(now, MARK_LOST_MS)), { isReported: false });
}

/**
 * No worker claims the call before it can no longer arrive (`callUntil`). Then it is searched for,
 * or repeated if that does no harm.
 */
function onUnknown<C extends Call>(
  snapshot: Snapshot<C>,
  { message, limitedForMs }: Omit<Unknown, "kind">,
): Decision<C> {
  const { call, kind, now } = snapshot;
  const notBefore = later(call.callUntil ?? now, now);
  if (kind.isRepeatable) {
    const isLimit = limitedForMs !== undefined;
    const code = isLimit ? "rate_limited" : "platform_unavailable";
    const limit = isLimit ? { isLimit, retryAfterMs: limitedForMs } : {};
    const uncertain: C = { ...call, firstUnknownAt: call.firstUnknownAt ?? call.calledAt };
    const failure = { kind: "retryable", code, message, ...limit } as const;
    return onRetryable({ ...snapshot, call: uncertain }, failure, notBefore);
  }
  const uncertain: C = {
    ...closeAttempt(toSearch(snapshot, notBefore)),
    unknownCount: call.unknownCount + 1,
    isLimited: limitedForMs !== undefined,
    errorCode: "outcome_unknown",
    errorMessage: message,
  };
  return changed(snapshot, uncertain, {
    ...attemptWith(snapshot, "unknown", { code: "outcome_unknown", message }),
    ...(limitedForMs === undefined
      ? {}
      : { account: { kind: "limited", until: after(now, limitedForMs) } }),
  });
}

/** Accepted and still processed: the attempt stays open until the result. */
function onPending<C extends Call>(snapshot: Snapshot<C>, pending: Pending): Decision<C> {
  const { afterMs, handles } = pending;
  const wakeAt = after(snapshot.now, afterMs);
  const searched: C = { ...toSearch(snapshot, wakeAt), errorCode: null, errorMessage: null };
  return changed(snapshot, searched, {
    ...attemptWith(snapshot, null),
    ...(handles === undefined ? {} : { handles }),
  });
}

function toSearch<C extends Call>({ call }: Snapshot<C>, wakeAt: Date): C {
  return {
    ...call,
    status: "unknown",
    wakeAt,
    openUnknowns: call.openUnknowns + 1,
    looks: 0,
    isLimited: false,
    isRestored: false,
    firstUnknownAt: call.firstUnknownAt ?? call.calledAt,
  };
}

// --- Certain failures, of a call or of a step before it

function onFailure<C extends Call>(snapshot: Snapshot<C>, failure: Failure): Decision<C> {
  const { call, now, policy } = snapshot;
  switch (failure.kind) {
    case "refused":
      return onRefused(snapshot, failure);
    case "retryable":
      return onRetryable(snapshot, failure, now);
    case "token_refused": {
      // The worker that holds the call renews the access token and continues within the same
      // attempt.
      const working: C = { ...call, status: "working", wakeAt: after(now, policy.leaseMs) };
      return changed(snapshot, working, { isReported: false, isContinued: true });
    }
  }
}

/** A duplicate after an unknown outcome most likely means that the earlier call took effect. */
function onRefused<C extends Call>(
  snapshot: Snapshot<C>,
  failure: Extract<Failure, { kind: "refused" }>,
): Decision<C> {
  const { call, kind } = snapshot;
  if (failure.code !== "duplicate_on_platform" || call.unknownCount === 0)
    return fail(snapshot, failure, { kind: "answered" });
  return kind.isProvedByDuplicate
    ? onSuccess(snapshot, NO_IDS)
    : onUnknown(snapshot, { message: failure.message });
}

/** Not a failure: no retry is counted, the attempt stays open, all calls of the account wait. */
function onLimit<C extends Call>(
  snapshot: Snapshot<C>,
  failure: Retryable,
  notBefore: Date,
): Decision<C> {
  const { call, now } = snapshot;
  const until = after(now, failure.retryAfterMs ?? DEFAULT_LIMIT_MS);
  const { code, message, isOfApp } = failure;
  const ofApp = isOfApp === true ? { ofApp: { code, message } } : {};
  const account: AccountEffect = { kind: "limited", until, ...ofApp };
  if (until >= call.sendBefore) return fail(snapshot, failure, account);
  return changed(snapshot, requeue(call, later(until, notBefore), failure), {
    ...attemptWith(snapshot, null, failure),
    account,
  });
}

function onRetryable<C extends Call>(
  snapshot: Snapshot<C>,
  failure: Retryable,
  notBefore: Date,
): Decision<C> {
  if (failure.isLimit === true) return onLimit(snapshot, failure, notBefore);
  const { call, now, random, policy } = snapshot;
  const { code, handles, retryAfterMs } = failure;
  const plannedMs = nextRetryMs(policy, call.retryCount, random);
  // A failure to fetch media is not a failure of the account, whose other calls can still be sent.
  const kind = handles === undefined ? "failed" : "answered";
  const account: AccountEffect | undefined = code === "media_fetch_failed" ? undefined : { kind };
  if (plannedMs === undefined) return fail(snapshot, failure, account);
  const wakeAt = later(after(now, retryAfterMs ?? plannedMs), notBefore);
  if (wakeAt >= call.sendBefore) return fail(snapshot, failure, account);
  const retried: C = {
    ...closeAttempt(requeue(call, wakeAt, failure)),
    retryCount: call.retryCount + 1,
  };
  return changed(snapshot, retried, {
    ...attemptWith(snapshot, "retry", failure),
    ...(account === undefined ? {} : { account }),
    ...(handles === undefined ? {} : { handles }),
  });
}

/** `outcome_unknown` if an earlier call may have worked: asking again could make it twice. */
function fail<C extends Call>(
  snapshot: Snapshot<C>,
  { code, message }: Fault,
  account?: AccountEffect,
): Decision<C> {
  const { call, kind } = snapshot;
  // A step before the call refuses something else: it succeeded before the earlier call.
  const isOfCall = call.status !== "working";
  const isDisproved = isOfCall && kind.isDisprovedByContent && ABOUT_CONTENT.has(code);
  const isOpen = call.openUnknowns > 0 && !isDisproved;
  const failed: C = {
    ...end(snapshot, "failed"),
    errorCode: isOpen ? "outcome_unknown" : code,
    errorMessage: isOpen && code !== "outcome_unknown" ? `${code}: ${message}` : message,
  };
  return changed(snapshot, failed, {
    ...(call.isAttemptOpen === true ? attemptWith(snapshot, "failed", { code, message }) : {}),
    ...(account === undefined ? {} : { account }),
  });
}

/**
 * Certainly not sent: the wait does not count as a retry, and the user sees one attempt for all of
 * it.
 */
function onPlatformHeld<C extends Call>(snapshot: Snapshot<C>): Decision<C> {
  const { call, now, policy } = snapshot;
  const wakeAt = after(now, policy.heldPlatformMs);
  // If an earlier call has an unknown outcome, the user continues to see that.
  const isKnown = call.openUnknowns > 0 || call.errorMessage === PLATFORM_HELD.message;
  if (isKnown)
    return changed(snapshot, { ...call, status: "queued", wakeAt }, { isReported: false });
  const held = closeAttempt(requeue(call, wakeAt, PLATFORM_HELD));
  return changed(snapshot, held, attemptWith(snapshot, "retry", PLATFORM_HELD));
}

// --- Success

/** The first success gives the call its id; another id later is a duplicate on the platform. */
function onSuccess<C extends Call>(snapshot: Snapshot<C>, ids: Ids): Decision<C> {
  const { call, siblings, kind } = snapshot;
  const { externalId, permalink, askLater, caveat } = ids;
  const attempt = attemptWith(snapshot, "published", caveat, { externalId, permalink });
  const account = { kind: "answered" } as const;
  if (call.status === kind.success) return onSecondSuccess(snapshot, ids, { ...attempt, account });
  const winner = siblings.find((sibling) => sibling.status === kind.success);
  if (winner !== undefined) {
    const dropped: C = { ...end(snapshot, "dropped"), openUnknowns: 0 };
    const marked = winner.externalId === externalId ? winner : markDuplicate(winner, ids);
    return { call, changes: [change(dropped, false), change(marked)], ...attempt, account };
  }
  const superfluous = siblings
    .filter(({ status }) => status === "queued" || status === "working")
    .map((sibling) => change<C>({ ...closeAttempt(sibling), status: "dropped" }, false));
  return {
    call,
    changes: [change(succeed(snapshot, ids)), ...superfluous],
    ...attempt,
    account,
    ...(askLater === undefined ? {} : { askLater }),
  };
}

function succeed<C extends Call>(snapshot: Snapshot<C>, { caveat, externalId, permalink }: Ids): C {
  const { success } = snapshot.kind;
  return {
    ...end(snapshot, success),
    // A deletion keeps the id and the address of the post that it deletes.
    ...(success === "deleted" ? {} : { externalId }),
    ...(success === "published" ? { permalink } : {}),
    openUnknowns: 0,
    errorCode: caveat?.code ?? null,
    errorMessage: caveat?.message ?? null,
  };
}

function onSecondSuccess<C extends Call>(
  snapshot: Snapshot<C>,
  ids: Ids,
  effects: Partial<Decision<C>>,
): Decision<C> {
  const { call } = snapshot;
  const { externalId } = ids;
  const { furtherIds } = call;
  if (externalId === call.externalId) return { ...nothing(snapshot), ...effects };
  if (furtherIds === undefined)
    return { ...changed(snapshot, markDuplicate(call, ids)), ...effects };
  if (externalId === null || furtherIds.includes(externalId)) return nothing(snapshot);
  // A success without an id was found by a search. The reported id may be the id of what it found.
  return call.externalId === null
    ? changed(snapshot, { ...call, externalId })
    : changed(snapshot, { ...call, furtherIds: [...furtherIds, externalId] });
}

function markDuplicate<C extends Call>(call: C, { externalId }: Ids): C {
  const errorMessage = `published a second time as ${externalId ?? "an unknown id"}`;
  return { ...call, errorCode: "duplicate_detected", errorMessage };
}

/** The attempt contains a success whose decision could not be written. */
function onKnownAlready<C extends Call>(snapshot: Snapshot<C>): Decision<C> | undefined {
  const { attempt } = snapshot;
  if (attempt?.outcome !== "published") return undefined;
  const { code, message } = attempt;
  const caveat = code === "" ? {} : { caveat: { code: code as TargetErrorCode, message } };
  return onSuccess(snapshot, { ...attempt, ...caveat });
}

// --- Searches of the platform

function onVerdict<C extends Call>(
  snapshot: Snapshot<C>,
  verdict: Verdict,
  maxResends: number,
): Decision<C> {
  const { call } = snapshot;
  switch (verdict.kind) {
    case "present":
      return onSuccess(snapshot, verdict);
    case "absent":
      return onAbsent(snapshot, verdict, maxResends);
    case "refused": {
      // Unless the post's own flag says so, the platform refused only the call that was searched
      // for; the outcome of an older one may still be unknown.
      const openUnknowns = verdict.isOwnFlag === true ? 0 : Math.max(0, call.openUnknowns - 1);
      const ended = { ...snapshot, call: { ...call, openUnknowns } };
      return fail(ended, verdict, { kind: "answered" });
    }
    case "repeat":
      return onRepeat(snapshot);
    case "look_again":
      return onLookAgain(snapshot, verdict);
    case "cannot_tell":
      return fail(snapshot, { ...STILL_UNKNOWN, message: verdict.message });
  }
}

/**
 * Sent again at once and then after the waits of a repeated call, until `maxResends` or the policy
 * ends it. A rate limit has its own wait and does not count.
 */
function onAbsent<C extends Call>(
  snapshot: Snapshot<C>,
  { isOwnFlag, limit }: Absent,
  maxResends: number,
): Decision<C> {
  const { call, now, policy } = snapshot;
  const { isLimited, resendCount } = call;
  // The flag of the post answers for all earlier calls: no later refusal can be about one of them.
  const unknownCount = isOwnFlag === true ? 0 : call.unknownCount;
  const absent: C = { ...call, openUnknowns: 0, unknownCount, isRestored: false };
  const proved: Snapshot<C> = { ...snapshot, call: absent };
  if (limit !== undefined) return onLimit(withOpenAttempt(proved), limit, now);
  if (!isLimited && resendCount >= Math.min(maxResends, policy.retryMs.length + 1))
    return isOwnFlag === true ? fail(proved, NEVER_PUBLISHED) : fail(snapshot, STILL_UNKNOWN);
  const wakeAt = isLimited ? now : after(now, nextRepeatMs(policy, resendCount + 1));
  if (wakeAt >= call.sendBefore) return fail(proved, TOO_LATE);
  const resent: C = {
    ...requeue(absent, wakeAt),
    resendCount: resendCount + (isLimited ? 0 : 1),
  };
  return changed(snapshot, resent, { isReported: wakeAt > now });
}

/** Without the attempt if it has ended: it keeps its outcome. */
function withOpenAttempt<C extends Call>(snapshot: Snapshot<C>): Snapshot<C> {
  const isOpen = snapshot.call.isAttemptOpen === true;
  return isOpen ? snapshot : { ...snapshot, attempt: undefined };
}

function onRepeat<C extends Call>(snapshot: Snapshot<C>): Decision<C> {
  const { call, kind, now, policy } = snapshot;
  const wakeAt = after(now, nextRepeatMs(policy, call.unknownCount));
  const isSpent = !kind.isRepeatedUntilTooLate && call.resendCount > policy.retryMs.length;
  if (isSpent || wakeAt >= call.sendBefore) return fail(snapshot, STILL_UNKNOWN);
  // The earlier call may have taken effect, so the error stays `outcome_unknown` until the repeated
  // call has ended.
  const repeated: C = { ...call, status: "queued", wakeAt, resendCount: call.resendCount + 1 };
  return changed(snapshot, repeated, { isReported: wakeAt > now });
}

/** For a platform that does not answer, or cannot be asked. */
export function isSearchOver(now: Date, sendBefore: Date): boolean {
  return now.getTime() - sendBefore.getTime() > GIVE_UP_MS;
}

function onLookAgain<C extends Call>(
  snapshot: Snapshot<C>,
  { afterMs, isIncomplete = false }: LookAgain,
): Decision<C> {
  const { call, now } = snapshot;
  if (isIncomplete && isSearchOver(now, call.sendBefore)) return fail(snapshot, STILL_UNKNOWN);
  const looks = call.looks + (isIncomplete ? 0 : 1);
  return changed(snapshot, { ...call, status: "unknown", wakeAt: after(now, afterMs), looks });
}

// --- Late answers, which arrive after the outcome was recorded as unknown

/** False also if the user has sent the target again, in a newer generation. */
function isOpenQuestion<C extends Call>(
  { call, kind, siblings }: Snapshot<C>,
  callNumber: number,
): boolean {
  if (call.callNumber !== callNumber || isReplaced(call, siblings)) return false;
  if (call.status === "unknown" || call.status === "reconciling") return true;
  return kind.mayReopen && isFailedUnknown(call) && call.openUnknowns > 0;
}

function isReplaced({ generation = 0 }: Call, siblings: readonly Call[]): boolean {
  return siblings.some((sibling) => (sibling.generation ?? 0) > generation);
}

function isFailedUnknown({ status, errorCode }: Call): boolean {
  return status === "failed" && errorCode === "outcome_unknown";
}

/** Nothing was published: the call continues as if the answer had arrived in time. */
function onLate<C extends Call>(snapshot: Snapshot<C>, outcome: NotDone): Decision<C> {
  const { call, now } = snapshot;
  const { openUnknowns, unknownCount } = call;
  const answered: C = {
    ...call,
    openUnknowns: Math.max(0, openUnknowns - 1),
    unknownCount: Math.max(0, unknownCount - 1),
    ...(call.isAttemptOpen === undefined ? {} : { isAttemptOpen: true }),
  };
  switch (outcome.kind) {
    case "unknown":
      return nothing(snapshot);
    case "pending":
      return onLatePending(snapshot, outcome);
    case "not_sent":
    case "token_refused": {
      const isNotSent = outcome.kind === "not_sent";
      const message = isNotSent ? "not sent" : outcome.message;
      const queued = closeAttempt(requeue(answered, now));
      const result = { code: "internal_error", message } as const;
      return changed(snapshot, reopen(queued, snapshot), {
        ...attemptWith(snapshot, "retry", result, { isNotSent }),
      });
    }
    case "refused":
    case "retryable":
      return withEndedAttempt(
        onFailure({ ...snapshot, call: answered }, outcome),
        snapshot,
        outcome,
      );
  }
}

/** A search needs the handles of that answer, so a search without them is ignored. */
function onLatePending<C extends Call>(snapshot: Snapshot<C>, pending: Pending): Decision<C> {
  const { afterMs, handles } = pending;
  if (handles === undefined) return nothing(snapshot);
  const { call, now } = snapshot;
  const wakeAt = after(now, afterMs);
  const errors = { errorCode: null, errorMessage: null };
  const searched: C = { ...call, status: "unknown", wakeAt, looks: 0, ...errors };
  return changed(snapshot, searched, { handles });
}

/** It was reported as `unknown`, so even a rate limit, which keeps attempts open, ends it. */
function withEndedAttempt<C extends Call>(
  decision: Decision<C>,
  snapshot: Snapshot<C>,
  failure: Fault,
): Decision<C> {
  const isEnded = decision.attempt !== undefined && decision.attempt.outcome !== null;
  return {
    ...decision,
    changes: decision.changes.map(({ call, isReported }) => ({
      call: reopen(closeAttempt(call), snapshot),
      isReported,
    })),
    ...(isEnded ? {} : attemptWith(snapshot, "retry", failure)),
  };
}

/** For a late answer when the call has continued without it. */
function onHistory<C extends Call>(snapshot: Snapshot<C>, outcome: NotDone): Decision<C> {
  const { attempt } = snapshot;
  const isNoAnswer = outcome.kind === "unknown" || outcome.kind === "pending";
  if (isNoAnswer || attempt?.outcome !== "unknown") return nothing(snapshot);
  const code = "code" in outcome ? outcome.code : "internal_error";
  const message = "message" in outcome ? outcome.message : "not sent";
  const isNotSent = outcome.kind === "not_sent";
  return {
    ...nothing(snapshot),
    ...attemptWith(snapshot, "retry", { code, message }, { isNotSent }),
  };
}

function reopen<C extends Call>(call: C, { call: before, now }: Snapshot<C>): C {
  const earliest = after(now, REOPEN_MS);
  const isTooSoon = before.status === "failed" && !isFinal(call.status) && call.wakeAt < earliest;
  return isTooSoon ? { ...call, wakeAt: earliest } : call;
}

// --- What people say

/**
 * Absent is not accepted while the call may still arrive (`callUntil`). A known success takes
 * precedence over any statement.
 */
function onStated<C extends Call>(
  snapshot: Snapshot<C>,
  published: Pick<Published, "externalId" | "permalink"> | undefined,
): Decision<C> {
  const { call, kind, siblings } = snapshot;
  if (!mayBeStated(call) || siblings.some(({ status }) => status === kind.success))
    return nothing(snapshot);
  const known = onKnownAlready(snapshot);
  if (known !== undefined) return known;
  // The refused call made no post and has ended: its attempt keeps what the platform answered.
  const asked = isRefusedAsDuplicate(call) ? { ...snapshot, attempt: undefined } : snapshot;
  if (published !== undefined) return onSuccess(asked, published);
  if (mayStillArrive(snapshot)) return nothing(snapshot);
  const { code: errorCode, message: errorMessage } = STATED_ABSENT;
  const absent: C = { ...end(snapshot, "failed"), openUnknowns: 0, errorCode, errorMessage };
  return changed(asked, absent, attemptWith(asked, "failed", STATED_ABSENT));
}

function mayBeStated(call: Call): boolean {
  const { status } = call;
  const isSearched = status === "unknown" || status === "reconciling";
  return isSearched || isFailedUnknown(call) || isRefusedAsDuplicate(call);
}

function mayStillArrive({ call, now }: Pick<Snapshot<Call>, "call" | "now">): boolean {
  return call.callUntil !== null && call.callUntil > now && !isRefusedAsDuplicate(call);
}

/** The post that the platform names may be the wanted one, which a person or another post made. */
export function isRefusedAsDuplicate({ status, errorCode }: Call): boolean {
  return status === "failed" && errorCode === "duplicate_on_platform";
}

/** Without an older unknown call, it is sent without a search; otherwise the search continues. */
function onTrusted<C extends Call>(snapshot: Snapshot<C>, firstCalledAt: Date | null): Decision<C> {
  const { call, kind, siblings, now } = snapshot;
  const isUncertain = call.openUnknowns > 1;
  const isSuperfluous =
    isReplaced(call, siblings) || siblings.some(({ status }) => status === kind.success);
  if (isSuperfluous && !(isUncertain && call.status === "unknown")) return nothing(snapshot);
  const certain: C = {
    ...call,
    unknownCount: call.unknownCount - 1,
    openUnknowns: call.openUnknowns - 1,
    looks: 0,
    isRestored: false,
    // The search starts at the first call with an unknown outcome. An earlier start, which only the
    // restore required, could find a post with the same text that a person published.
    firstUnknownAt: firstCalledAt ?? (isUncertain ? call.firstUnknownAt : null),
  };
  const sent: C = { ...requeue(certain, now), isLimited: false };
  return changed(snapshot, reopen(isUncertain ? searchAgain(certain, now) : sent, snapshot));
}

function searchAgain<C extends Call>(call: C, now: Date): C {
  // If the platform still processes the post, the attempt is open and the call has no error.
  const error =
    call.isAttemptOpen === true
      ? { errorCode: null, errorMessage: null }
      : ({ errorCode: "outcome_unknown", errorMessage: UNKNOWN } as const);
  return { ...call, status: "unknown", wakeAt: later(call.callUntil ?? now, now), ...error };
}

// --- New states

function nothing<C extends Call>({ call }: Snapshot<C>): Decision<C> {
  return { call, changes: [] };
}

/** Resets the crash count, too: a worker that recorded something has not crashed. */
function change<C extends Call>(call: C, isReported = true): CallChange<C> {
  return { call: { ...call, version: call.version + 1, crashCount: 0 }, isReported };
}

function changed<C extends Call>(
  { call }: Snapshot<C>,
  next: C,
  {
    isReported,
    ...effects
  }: Omit<Partial<Decision<C>>, "call" | "changes"> & {
    readonly isReported?: boolean;
  } = {},
): Decision<C> {
  return { call, changes: [change(next, isReported)], ...effects };
}

/** What finished steps returned stays stored: the next try continues there. */
function requeue<C extends Call>(call: C, wakeAt: Date, fault?: Fault): C {
  const errorCode = fault?.code ?? null;
  return { ...call, status: "queued", wakeAt, errorCode, errorMessage: fault?.message ?? null };
}

function end<C extends Call>({ call, now }: Snapshot<C>, status: CallStatus): C {
  return { ...closeAttempt(call), status, finishedAt: now };
}

function closeAttempt<C extends Call>(call: C): C {
  return call.isAttemptOpen === undefined ? call : { ...call, isAttemptOpen: false };
}

/** @param outcome null keeps the attempt open. */
function attemptWith(
  { attempt, now }: Pick<Snapshot<Call>, "attempt" | "now">,
  outcome: AttemptOutcome | null,
  { code = "", message = "" }: { readonly code?: string; readonly message?: string } = {},
  {
    externalId,
    permalink,
    isNotSent = false,
  }: Partial<Pick<Attempt, "externalId" | "permalink" | "isNotSent">> = {},
): { readonly attempt?: Attempt } {
  if (attempt === undefined) return {};
  return {
    attempt: {
      ...attempt,
      outcome,
      code,
      message,
      externalId: externalId ?? attempt.externalId,
      permalink: permalink ?? attempt.permalink,
      isNotSent,
      finishedAt: outcome === null ? attempt.finishedAt : now,
    },
  };
}

/** 0 before the first repetition; then it follows `retryMs`, whose last value repeats. */
function nextRepeatMs({ retryMs }: CallPolicy, repetition: number): number {
  if (repetition <= 1) return 0;
  return retryMs[Math.min(repetition - 2, retryMs.length - 1)] ?? 0;
}

/** Less than a day, after which a deletion is given up. */
const LONGEST_WAIT_MS = 23 * 60 * 60_000;

/** Postgres reads no later time as JavaScript writes it. */
const LAST_TIME_MS = Date.parse("9999-12-31T23:59:59Z");

/** A wait beyond the times that can be stored counts as the longest wait. */
function after(now: Date, ms: number): Date {
  const at = now.getTime() + ms;
  return new Date(at <= LAST_TIME_MS ? at : now.getTime() + LONGEST_WAIT_MS);
}

/** Of an invalid date, invalid: no other date may hide it. */
function later(a: Date, b: Date): Date {
  return new Date(Math.max(a.getTime(), b.getTime()));
}
