import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { UnknownCall } from "@postrider/platforms/publishing/verdict";
import { failpoint } from "@postrider/shared/process/failpoints";
import { inWorkSpan } from "@postrider/shared/tracing/work-span";
import type { CallErrorCode } from "#src/calls/call.ts";
import { searchPlatform } from "#src/calls/search.ts";
import {
  backOffMs,
  CRASHED,
  DONE,
  endWork,
  findCredentials,
  isCrashLooping,
  RELEASE_NOW,
  sendCall,
  type WorkEnd,
} from "#src/calls/worker.ts";
import { type ClaimedAction, releaseAction } from "#src/engagement/db/action-claims.ts";
import { findOwnedReplies } from "#src/engagement/db/action-states.ts";
import { ACTION_TABLE } from "#src/engagement/db/action-table.ts";
import type { ActionEvent } from "#src/engagement/domain/comment-action.ts";
import { withCredential } from "#src/operations/with-credential.ts";
import type { ActionContext } from "./action-context.ts";
import { type ActionCalls, findCalls } from "./call-connector.ts";
import { giveBackUnits, takeUnits } from "./take-units.ts";

type TokenRefused = { readonly kind: "token_refused" };

const GIVEN_UP = {
  missed: "it is too late to call the platform",
  rule_inactive: "the rule is not active any more",
  sending_blocked: "the operator did not allow private replies all the time since it was stored",
  duplicate_detected: "a later request on the comment has been sent, which this one would undo",
} as const;

/** A refused access token is renewed once; the beginning of the second call is recorded too. */
async function sendAction(
  context: ActionContext,
  action: ClaimedAction,
  { calls, credential }: { readonly calls: ActionCalls; readonly credential: Credential },
): Promise<WorkEnd<ActionEvent>> {
  const { id, fence } = action;
  let { callNumber } = action;
  const end = await withCredential(context.deps, action, credential, async (access) => {
    const sent = await sendOnce(context, { ...action, callNumber }, { calls, access });
    callNumber += 1;
    return sent;
  });
  switch (end.kind) {
    case "unusable":
      return giveUp(action, end.code, "the platform cannot be called in the name of the account");
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
): Promise<WorkEnd<ActionEvent> | TokenRefused> {
  if (context.stopping.aborted) return RELEASE_NOW;
  const { id, fence, callNumber } = action;
  const cost = calls.costs?.(access).send;
  const failure = await takeUnits(context, action, cost);
  if (failure !== undefined)
    return { kind: "learned", event: { id, kind: "step_failed", fence, failure } };
  const callMs = context.deps.settings.visibleCallMs;
  const sent = await sendCall(context, {
    request: { id, fence, externalAccountId: access.externalId, callMs },
    callNumber,
    send: (guard) => calls.send(access, guard),
    toEvent: (event): ActionEvent => ({ ...event, id }),
    unmarked: (code) => ({ kind: "given_up", fence, code, message: GIVEN_UP[code] }),
    ids: { actionId: id },
    failpoints: "action-",
  });
  if (sent.kind !== "sent" || sent.outcome.kind === "not_sent")
    await giveBackUnits(context, action, cost);
  if (sent.kind !== "sent") return sent;
  return sent.outcome.kind === "token_refused" && sent.isContinued
    ? { kind: "token_refused" }
    : DONE;
}

function toUnknownCall(
  { deps }: ActionContext,
  action: ClaimedAction,
  externalAccountId: string,
): UnknownCall {
  const { firstUnknownAt, calledAt, callUntil, createdAt, looks, claimedAt } = action;
  return {
    calledAt: firstUnknownAt ?? calledAt ?? createdAt,
    callUntil: callUntil ?? createdAt,
    looks,
    now: claimedAt,
    timeScale: deps.settings.reconcileTimeScale,
    isOwned: (externalIds) => findOwnedReplies(deps.sql, action, externalAccountId, externalIds),
    hasPostWithoutId: () => Promise.resolve(false),
    // No similar reply can be confused with this one: the unique index of open calls allows one
    // open call per comment and reply text.
    hasSimilarPost: () => Promise.resolve(false),
  };
}

/** Searches the platform for the result of a call with an unknown outcome. */
async function lookForReply(
  context: ActionContext,
  action: ClaimedAction,
  { calls, credential }: { readonly calls: ActionCalls; readonly credential: Credential },
): Promise<WorkEnd<ActionEvent>> {
  const { id, fence } = action;
  const { accountStatus } = credential;
  if (accountStatus !== "active") {
    const isReconnect = accountStatus === "reconnect_required";
    const code = isReconnect ? "account_reconnect_required" : "account_disconnected";
    return giveUp(action, code, "the platform cannot be searched for the outcome of the call");
  }
  const { deps, stopping } = context;
  const { externalId: externalAccountId } = credential;
  const limit = await takeUnits(context, action, calls.costs?.(credential).look);
  if (limit !== undefined) return { kind: "release", delayMs: limit.retryAfterMs };
  const call = toUnknownCall(context, action, externalAccountId);
  const end = await searchPlatform(deps, {
    table: ACTION_TABLE,
    note:
      action.externalAccountId === null ? { id, fence, externalAccountId, callMs: 0 } : undefined,
    look: (signal) => calls.look(credential, call, signal),
    timeoutMs: deps.settings.leaseMs,
    interrupted: stopping,
    ids: { actionId: id },
  });
  return end.kind === "found"
    ? { kind: "learned", event: { id, kind: "looked", fence, verdict: end.verdict } }
    : end;
}

/**
 * Never throws: an action that cannot be released is claimed again when its lease ends. `onEnd` is
 * called once per action.
 */
export async function workActions(
  context: ActionContext,
  actions: readonly ClaimedAction[],
  onEnd: () => void,
): Promise<void> {
  failpoint("delivery.after-action-claim");
  const credentials = findCredentials(context.deps, actions);
  await Promise.all(
    actions.map(async (action, index) => {
      const credential = await credentials[index];
      await inActionSpan(action, () => workAction(context, action, credential));
      onEnd();
    }),
  );
}

function inActionSpan<T>(action: ClaimedAction, work: () => Promise<T>): Promise<T> {
  const attributes = { "postrider.action.id": action.id, "postrider.action.type": action.type };
  return inWorkSpan("carry out comment action", action, attributes, work);
}

/** Releases the action if the work on it throws. */
async function workAction(
  context: ActionContext,
  action: ClaimedAction,
  credential: Credential | undefined,
): Promise<void> {
  await endWork(context.deps, {
    ids: { actionId: action.id },
    run: () => carryOut(context, action, credential),
    record: (event) => context.recorder.record(event),
    release: (delayMs) => release(context, action, delayMs),
  });
}

/** @param credential Undefined if it could not be fetched. */
async function carryOut(
  context: ActionContext,
  action: ClaimedAction,
  credential: Credential | undefined,
): Promise<WorkEnd<ActionEvent>> {
  const { connectors, settings, random } = context.deps;
  const { id, fence } = action;
  if (isCrashLooping(action)) return { kind: "learned", event: { ...CRASHED, id, fence } };
  if (credential === undefined) return { kind: "release", delayMs: backOffMs(random) };
  const calls = findCalls(connectors, action);
  if (calls === undefined)
    return giveUp(action, "internal_error", "the platform does not offer the action any more");
  if (action.status === "reconciling")
    return await lookForReply(context, action, { calls, credential });
  if (action.type === "private_reply" && !settings.isSendingEnabled)
    return giveUp(action, "sending_blocked", "the operator does not allow private replies");
  return await sendAction(context, action, { calls, credential });
}

function giveUp(
  { id, fence }: ClaimedAction,
  code: CallErrorCode,
  message: string,
): WorkEnd<ActionEvent> {
  return { kind: "learned", event: { id, kind: "given_up", fence, code, message } };
}

async function release(
  { deps }: ActionContext,
  action: ClaimedAction,
  delayMs: number,
): Promise<void> {
  try {
    await releaseAction(deps.sql, action, delayMs);
  } catch (error) {
    deps.logger.warn(
      { err: error, actionId: action.id },
      "a comment action could not be released; it can be claimed again when its lease ends",
    );
  }
}
