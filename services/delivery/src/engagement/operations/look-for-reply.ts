import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { UnknownCall, Verdict } from "@postrider/platforms/publishing/verdict";
import type { ClaimedAction } from "#src/engagement/db/action-claims.ts";
import { findOwnedReplies, recordExternalAccount } from "#src/engagement/db/action-states.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionCalls } from "./call-connector.ts";
import type { ActionEnd } from "./send-action.ts";

/** Wait in milliseconds before a failed search of a platform for a reply is repeated. */
const LOOK_AGAIN_MS = 60_000;
/** Average time in milliseconds for which a search waits for an open call that it could not tell apart. */
const BUSY_MS = 1_000;

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
    // No similar reply can be confused with this one: the unique index of open calls allows one open call per comment and reply
    // text.
    hasSimilarPost: () => Promise.resolve(false),
  };
}

/** Searches the platform for the result of a call with an unknown outcome. */
export async function lookForReply(
  context: ActionContext,
  action: ClaimedAction,
  { calls, credential }: { readonly calls: ActionCalls; readonly credential: Credential },
): Promise<ActionEnd> {
  const { id, fence } = action;
  const { accountStatus } = credential;
  if (accountStatus !== "active") {
    const isReconnect = accountStatus === "reconnect_required";
    const code = isReconnect ? "account_reconnect_required" : "account_disconnected";
    const message = "the platform cannot be searched for the outcome of the call";
    return { kind: "learned", event: { id, kind: "given_up", fence, code, message } };
  }
  if (action.externalAccountId === null) {
    const { sql, random } = context.deps;
    const recorded = await recordExternalAccount(sql, action, credential.externalId);
    if (recorded === "lost") return { kind: "done" };
    if (recorded === "busy") return { kind: "release", delayMs: BUSY_MS * (1 + random()) };
  }
  const verdict = await look(context, action, credential.externalId, (call, signal) =>
    calls.look(credential, call, signal),
  );
  if (context.stopping.aborted && verdict.kind === "look_again")
    return { kind: "release", delayMs: 0 };
  return { kind: "learned", event: { id, kind: "looked", fence, verdict } };
}

async function look(
  context: ActionContext,
  action: ClaimedAction,
  externalAccountId: string,
  search: (call: UnknownCall, signal: AbortSignal) => Promise<Verdict>,
): Promise<Verdict> {
  const { logger, settings } = context.deps;
  const signal = AbortSignal.any([context.stopping, AbortSignal.timeout(settings.leaseMs)]);
  try {
    return await search(toUnknownCall(context, action, externalAccountId), signal);
  } catch (error) {
    logger.warn(
      { err: error, actionId: action.id },
      "the platform could not be searched to find out whether a comment action took effect; the search is repeated later",
    );
    const afterMs = LOOK_AGAIN_MS * settings.reconcileTimeScale;
    return { kind: "look_again", afterMs, isIncomplete: true };
  }
}
