import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import { createSendGuard } from "@postrider/platforms/http/send-once";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import { isUniqueViolation } from "@postrider/shared/postgres";
import { failpoint } from "@postrider/shared/process/failpoints";
import type { CallOutcome } from "#src/calls/call-event.ts";
import type { ClaimedAction } from "#src/engagement/db/action-claims.ts";
import { explainUnmarked, markActionCall, type Unmarked } from "#src/engagement/db/action-marks.ts";
import type { ActionEvent } from "#src/engagement/domain/comment-action.ts";
import { withCredential } from "./account-access.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionCalls } from "./call-connector.ts";

/** How one attempt to carry out an action on a comment ended. */
export type ActionEnd =
  /** The worker learned something about the action, and its caller must record that. */
  | { readonly kind: "learned"; readonly event: ActionEvent }
  /** The action can be claimed again after `delayMs`; this does not count as an attempt. */
  | { readonly kind: "release"; readonly delayMs: number }
  /** Everything is recorded, or another worker has claimed the action. */
  | { readonly kind: "done" };

type TokenRefused = { readonly kind: "token_refused" };

/** Average time in milliseconds for which an action waits for another open call on its comment. */
const BUSY_MS = 250;

const GIVEN_UP = {
  missed: "it is too late to call the platform",
  rule_inactive: "the rule is not active any more",
  sending_blocked: "the operator did not allow private replies all the time since it was stored",
} as const;

/**
 * Sends the call of a claimed action: records that the call begins, sends it, and records its outcome. A refused access token
 * is renewed once; the beginning of the second call is recorded too.
 */
export async function sendAction(
  context: ActionContext,
  action: ClaimedAction,
  { calls, credential }: { readonly calls: ActionCalls; readonly credential: Credential },
): Promise<ActionEnd> {
  const { id, fence } = action;
  let { callNumber } = action;
  const end = await withCredential(context.deps, action, credential, async (access) => {
    const sent = await sendOnce(context, { ...action, callNumber }, { calls, access });
    callNumber += 1;
    return sent;
  });
  switch (end.kind) {
    case "unusable": {
      const { code } = end;
      const message = "the platform cannot be called in the name of the account";
      return { kind: "learned", event: { id, kind: "given_up", fence, code, message } };
    }
    case "unavailable": {
      const { message } = end;
      const failure = { kind: "retryable", code: "platform_unavailable", message } as const;
      return { kind: "learned", event: { id, kind: "step_failed", fence, failure } };
    }
    case "learned":
    case "release":
    case "done":
      return end;
  }
}

interface Call {
  readonly calls: ActionCalls;
  readonly access: AccountAccess;
}

async function sendOnce(
  context: ActionContext,
  action: ClaimedAction,
  { calls, access }: Call,
): Promise<ActionEnd | TokenRefused> {
  const { deps, stopping, recorder } = context;
  const { id } = action;
  if (stopping.aborted) return { kind: "release", delayMs: 0 };
  failpoint("delivery.before-action-mark");
  // The clocks are read before the database records that the call begins. So every delay after that shortens the time
  // for the call.
  const callMs = deps.settings.visibleCallMs;
  const guard = createSendGuard(deps.clocks, callMs);
  const externalAccountId = access.externalId;
  const callNumber = await mark(context, action, { callMs, externalAccountId });
  if (typeof callNumber !== "number") return callNumber;
  failpoint("delivery.after-action-mark");
  // A process that is stopping or was delayed does not send the platform call.
  const isStale = stopping.aborted || !guard.mayStillSend();
  const outcome: CallOutcome = isStale
    ? { kind: "not_sent" }
    : await send(context, action, () => calls.send(access, guard));
  if (outcome.kind !== "not_sent") failpoint("delivery.after-action-call");
  const { isContinued } = await recorder.record({ id, kind: "called", callNumber, outcome });
  return outcome.kind === "token_refused" && isContinued
    ? { kind: "token_refused" }
    : { kind: "done" };
}

/** Sends the call of an action. If the connector throws an error, the outcome of the call is unknown. */
async function send(
  { deps }: ActionContext,
  { id }: ClaimedAction,
  call: () => Promise<CallOutcome>,
): Promise<CallOutcome> {
  try {
    return await call();
  } catch (error) {
    deps.logger.error(
      { err: error, actionId: id },
      "the platform call of a comment action threw an error; whether the platform carried out the action is unknown",
    );
    return { kind: "unknown", message: "internal error" };
  }
}

/** Records that the call begins. Returns the call's number, or how the work ends if the call must not begin. */
async function mark(
  { deps }: ActionContext,
  action: ClaimedAction,
  call: Parameters<typeof markActionCall>[2],
): Promise<number | ActionEnd> {
  const { id, fence, callNumber } = action;
  try {
    const marked = await markActionCall(deps.sql, action, call);
    if (marked !== undefined) return marked;
  } catch (error) {
    if (isUniqueViolation(error)) return onUnmarked(deps.random(), action, "busy");
    deps.logger.warn(
      { err: error, actionId: id },
      "the database did not answer whether the platform call of a comment action may begin; the call is not sent, and the action is tried again",
    );
    return {
      kind: "learned",
      event: { id, kind: "mark_lost", fence, callNumber: callNumber + 1 },
    };
  }
  return onUnmarked(deps.random(), action, await explainUnmarked(deps.sql, action));
}

function onUnmarked(random: number, { id, fence }: ClaimedAction, reason: Unmarked): ActionEnd {
  switch (reason) {
    case "lost":
      return { kind: "done" };
    case "busy":
    case "held":
      return { kind: "release", delayMs: BUSY_MS * (1 + random) };
    case "missed":
    case "rule_inactive":
    case "sending_blocked": {
      const message = GIVEN_UP[reason];
      return {
        kind: "learned",
        event: { id, kind: "given_up", fence, code: reason, message },
      };
    }
  }
}
