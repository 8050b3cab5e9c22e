import type { Missing } from "#src/comments/connector.ts";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { isMissing, toGraphFailure } from "#src/graph-api/failures.ts";
import { type GraphApi, openGraph } from "#src/graph-api/graph-request.ts";
import {
  createGraphPrivateReplies,
  type GraphPrivateReplies,
  repeatAfter,
  toStateCall,
} from "#src/graph-api/private-replies.ts";
import { count, type JsonObject, list, object, text, time } from "#src/http/platform-answer.ts";
import type {
  OwnedMedia,
  PrivateRepliesConnector,
  UnknownPrivateReply,
} from "#src/private-replies/connector.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import type { Verdict } from "#src/publishing/verdict.ts";

const FIELDS = "id,created_time,comments.summary(total_count).limit(0)";

function mediaIdOf(entry: unknown): string | undefined {
  const [attachment] = list(object(entry, "attachments"), "data");
  const type = text(attachment, "type") ?? "";
  const isVideo = type.includes("video") && !type.includes("share");
  return (isVideo ? text(object(attachment, "target"), "id") : undefined) ?? text(entry, "id");
}

function toMedia(entry: unknown): OwnedMedia | undefined {
  const id = mediaIdOf(entry);
  const publishedAt = time(entry, "created_time");
  if (id === undefined || publishedAt === undefined) return undefined;
  const summary = object(object(entry, "comments"), "summary");
  return { id, publishedAt, commentCount: count(summary, "total_count") };
}

function hasPrivateReply(comment: JsonObject | undefined): boolean {
  return object(comment, "private_reply_conversation") !== undefined;
}

/** Reads whether the comment has a private reply. */
async function reconcile(
  graph: Caller,
  replies: GraphPrivateReplies,
  commentId: string,
  call: UnknownPrivateReply,
): Promise<Verdict | Missing> {
  const answer = await ask(graph, toStateCall(replies, commentId));
  if (answer.kind === "no_answer") return repeatAfter(call);
  if (isMissing(answer)) return { kind: "missing" };
  const failure = toGraphFailure(answer, MEANINGS);
  const retryAfterMs = failure?.kind === "retryable" ? failure.retryAfterMs : undefined;
  if (retryAfterMs !== undefined)
    return { kind: "look_again", afterMs: retryAfterMs, isIncomplete: true };
  return answer.status === 200 && hasPrivateReply(answer.json)
    ? { kind: "present", externalId: null, permalink: null }
    : repeatAfter(call);
}

export function createFacebookPrivateRepliesConnector(api: GraphApi): PrivateRepliesConnector {
  const replies: GraphPrivateReplies = {
    platform: "facebook",
    apiOf: () => api,
    own: MEANINGS,
    // The owner of the video is read first.
    unitsPerPage: 2,
    edge: "published_posts",
    listFields: `${FIELDS},attachments{type,target}`,
    nodeFields: `${FIELDS},from`,
    isOwn: (node, { externalId }) => text(object(node, "from"), "id") === externalId,
    toMedia,
    senderOf: ({ externalId }) => externalId,
    stateFields: ["created_time", "private_reply_conversation"],
    hasPrivateReply,
  };
  return {
    ...createGraphPrivateReplies(replies),
    reconcile: (account, { commentId }, call, signal) =>
      reconcile(openGraph(api, account, signal), replies, commentId, call),
  };
}
