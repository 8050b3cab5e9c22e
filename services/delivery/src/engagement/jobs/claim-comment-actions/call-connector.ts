import type { CallCost, CommentsConnector } from "@postrider/platforms/comments/connector";
import type { SendGuard } from "@postrider/platforms/http/send-once";
import type { PlatformId } from "@postrider/platforms/platform-id";
import type { PrivateRepliesConnector } from "@postrider/platforms/private-replies/connector";
import type { AccountAccess } from "@postrider/platforms/publishing/publication";
import type { UnknownCall, Verdict } from "@postrider/platforms/publishing/verdict";
import type { CallOutcome } from "#src/calls/call-event.ts";
import type { CommentAction } from "#src/engagement/domain/comment-action.ts";
import type { EngagementConnectors } from "../../operations/dependencies.ts";

export interface ActionCalls {
  /** Sends the platform call of the action, once. */
  send(access: AccountAccess, guard: SendGuard): Promise<CallOutcome>;
  /** Searches the platform for the result of a call with an unknown outcome. */
  look(access: AccountAccess, call: UnknownCall, signal: AbortSignal): Promise<Verdict>;
  /** Of the calls that use units of the app's budget. */
  costs?(access: AccountAccess): {
    readonly send?: CallCost | undefined;
    readonly look?: CallCost | undefined;
  };
}

/** The platform would refuse the same action again. */
const COMMENT_GONE = {
  kind: "refused",
  code: "content_rejected",
  message: "the comment does not exist any more",
} as const;

type Connectors = Pick<EngagementConnectors, "comments" | "privateReplies">;

/** Undefined if this process does not support the action. */
export function findCalls(connectors: Connectors, action: CommentAction): ActionCalls | undefined {
  const platform = action.platform as PlatformId;
  if (action.type === "private_reply") {
    const connector = connectors.privateReplies[platform];
    return connector === undefined ? undefined : privateReplyCalls(connector, action);
  }
  const connector = connectors.comments[platform];
  if (connector === undefined) return undefined;
  const calls =
    action.type === "reply" ? replyCalls(connector, action) : visibilityCalls(connector, action);
  const { costs } = connector;
  if (costs === undefined) return calls;
  const counted =
    action.type === "reply"
      ? { send: costs.reply, look: costs.look }
      : { send: costs.setHidden, look: undefined };
  return {
    ...calls,
    costs: (access) => (connector.isForeignHost?.(access) === true ? {} : counted),
  };
}

function replyCalls(connector: CommentsConnector, action: CommentAction): ActionCalls {
  const { id: requestId, mediaId, commentId } = action;
  const request = { requestId, mediaId, commentId, text: action.text ?? "" };
  return {
    send: (access, guard) => connector.reply(access, request, guard),
    look: (access, call, signal) => connector.reconcileReply(access, request, call, signal),
  };
}

function privateReplyCalls(connector: PrivateRepliesConnector, action: CommentAction): ActionCalls {
  const { mediaId, commentId } = action;
  const request = { mediaId, commentId, text: action.text ?? "" };
  return {
    send: (access, guard) => connector.send(access, request, guard),
    look: async (access, call, signal) => {
      const verdict = await connector.reconcile(access, request, call, signal);
      if (verdict.kind !== "missing") return verdict;
      return { kind: "cannot_tell", message: COMMENT_GONE.message };
    },
  };
}

function visibilityCalls(
  connector: CommentsConnector,
  { mediaId, commentId, type }: CommentAction,
): ActionCalls {
  const comment = { mediaId, commentId, hidden: type === "hide" };
  return {
    send: async (access, guard) => {
      if (!guard.mayStillSend()) return { kind: "not_sent" };
      const signal = AbortSignal.timeout(guard.timeoutMs);
      const result = await connector.setHidden(access, comment, signal);
      return result.kind === "missing" ? COMMENT_GONE : result;
    },
    // Actions that hide or show a comment are not searched for; `decide` repeats their calls
    // instead.
    look: () => Promise.resolve({ kind: "repeat" }),
  };
}
