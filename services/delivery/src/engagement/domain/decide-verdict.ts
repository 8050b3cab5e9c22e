import type { Verdict } from "@postrider/platforms/publishing/verdict";
import {
  after,
  change,
  fail,
  requeue,
  succeed,
  withoutUnknown,
  type ActionDecision,
  type ActionPolicy,
  type ActionSnapshot,
} from "./action-decision.ts";

/**
 * For this long after the first call with an unknown outcome, the search of the platform is repeated while the platform cannot
 * be read, in milliseconds.
 */
const GIVE_UP_MS = 24 * 60 * 60_000;
/**
 * Maximum number of times that a reply is sent again after a search showed that an earlier call with an unknown outcome did not
 * create it.
 */
const MAX_RESENDS = 1;

const STILL_UNKNOWN = {
  code: "outcome_unknown",
  message: "it could not be determined whether the platform carried out the action",
} as const;

function onAbsent(snapshot: ActionSnapshot): ActionDecision {
  const { action, now } = snapshot;
  if (!action.isLimited && action.resendCount >= MAX_RESENDS) return fail(snapshot, STILL_UNKNOWN);
  const proved = { ...action, openUnknowns: 0, firstUnknownAt: null };
  if (now >= action.sendBefore) {
    const message = "the action was not carried out, and it is too late to call the platform";
    return fail({ ...snapshot, action: proved }, { code: "missed", message });
  }
  const resendCount = action.resendCount + (action.isLimited ? 0 : 1);
  return change({ ...requeue(proved, now), resendCount });
}

function onRepeat(snapshot: ActionSnapshot, { retryMs }: ActionPolicy): ActionDecision {
  const { action, now } = snapshot;
  const { resendCount } = action;
  const wakeAt = after(now, resendCount === 0 ? 0 : (retryMs[resendCount - 1] ?? 0));
  if (resendCount > retryMs.length || wakeAt >= action.sendBefore)
    return fail(snapshot, STILL_UNKNOWN);
  return change({ ...action, status: "queued", wakeAt, resendCount: resendCount + 1 });
}

function onLookAgain(
  snapshot: ActionSnapshot,
  { afterMs, isIncomplete = false }: Extract<Verdict, { kind: "look_again" }>,
): ActionDecision {
  const { action, now } = snapshot;
  const since = action.firstUnknownAt ?? action.createdAt;
  if (isIncomplete && now.getTime() - since.getTime() > GIVE_UP_MS)
    return fail(snapshot, STILL_UNKNOWN);
  const looks = action.looks + (isIncomplete ? 0 : 1);
  return change({ ...action, status: "unknown", wakeAt: after(now, afterMs), looks });
}

/** Decides what follows from a search of the platform for the result of a call with an unknown outcome. */
export function onVerdict(
  snapshot: ActionSnapshot,
  verdict: Verdict,
  policy: ActionPolicy,
): ActionDecision | undefined {
  switch (verdict.kind) {
    case "present":
      return succeed(snapshot, verdict.externalId);
    case "absent":
      return onAbsent(snapshot);
    case "refused": {
      return fail({ ...snapshot, action: withoutUnknown(snapshot.action) }, verdict);
    }
    case "repeat":
      return onRepeat(snapshot, policy);
    case "look_again":
      return onLookAgain(snapshot, verdict);
    case "cannot_tell":
      return fail(snapshot, { ...STILL_UNKNOWN, message: verdict.message });
  }
}
