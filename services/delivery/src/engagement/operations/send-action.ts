import type { Credential } from "@postrider/contracts/accounts/v1/credential_service_pb";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import { DONE, RELEASE_NOW, sendCall, type WorkEnd } from "#src/calls/worker.ts";
import type { ClaimedAction } from "#src/engagement/db/action-claims.ts";
import type { ActionEvent } from "#src/engagement/domain/comment-action.ts";
import { withCredential } from "./account-access.ts";
import type { ActionContext } from "./action-context.ts";
import type { ActionCalls } from "./call-connector.ts";

type TokenRefused = { readonly kind: "token_refused" };

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
): Promise<WorkEnd<ActionEvent>> {
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
): Promise<WorkEnd<ActionEvent> | TokenRefused> {
  if (context.stopping.aborted) return RELEASE_NOW;
  const { id, fence, callNumber } = action;
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
  if (sent.kind !== "sent") return sent;
  return sent.outcome.kind === "token_refused" && sent.isContinued
    ? { kind: "token_refused" }
    : DONE;
}
