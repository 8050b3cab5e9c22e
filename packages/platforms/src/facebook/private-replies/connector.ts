import type { Missing } from "#src/comments/connector.ts";
import { MEANINGS } from "#src/facebook/publishing/error-meanings.ts";
import { isMissing, toGraphFailure, toStepFailure } from "#src/graph-api/failures.ts";
import {
  type GraphApi,
  openGraph,
  readGraphList,
  toGraphSite,
} from "#src/graph-api/graph-request.ts";
import { POLL_BUDGET } from "#src/graph-api/poll-budget.ts";
import { readExisting } from "#src/graph-api/read-nodes.ts";
import {
  type CommentState,
  PRIVATE_REPLY_MAX_BYTES,
  PRIVATE_REPLY_WINDOW_MS,
  sendPrivateReply,
} from "#src/graph-api/send-private-reply.ts";
import { list, number, object, text } from "#src/http/platform-answer.ts";
import type {
  OwnedMedia,
  OwnedMediaPage,
  PrivateRepliesConnector,
} from "#src/private-replies/connector.ts";
import { type ApiCall, ask } from "#src/publishing/caller.ts";
import { elapsedMs } from "#src/publishing/look-schedule.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";

const FIELDS = "id,created_time,comments.summary(total_count).limit(0)";

function mediaIdOf(entry: unknown): string | undefined {
  const [attachment] = list(object(entry, "attachments"), "data");
  const type = text(attachment, "type") ?? "";
  const isVideo = type.includes("video") && !type.includes("share");
  return (isVideo ? text(object(attachment, "target"), "id") : undefined) ?? text(entry, "id");
}

function toMedia(entry: unknown): OwnedMedia | undefined {
  const id = mediaIdOf(entry);
  const publishedAt = new Date(text(entry, "created_time") ?? "");
  if (id === undefined || Number.isNaN(publishedAt.getTime())) return undefined;
  const summary = object(object(entry, "comments"), "summary");
  return { id, publishedAt, commentCount: number(summary, "total_count") ?? null };
}

function toPage(entries: readonly unknown[], next: string | undefined): OwnedMediaPage {
  return { kind: "media", media: entries.flatMap((entry) => toMedia(entry) ?? []), next };
}

export async function listMedia(
  api: GraphApi,
  account: AccountAccess,
  { limit, after }: { readonly limit: number; readonly after: string | undefined },
  signal: AbortSignal,
): Promise<OwnedMediaPage | Failure> {
  const path = `${encodeURIComponent(account.externalId)}/published_posts`;
  const query = { fields: `${FIELDS},attachments{type,target}` };
  const graph = openGraph(api, account, signal);
  const read = await readGraphList(graph, { path, query, limit, after });
  return read.kind === "list" ? toPage(read.entries, read.next) : toStepFailure(read, MEANINGS);
}

/** One call each. Posts of other Pages are left out. */
async function readMedia(
  api: GraphApi,
  account: AccountAccess,
  mediaIds: readonly string[],
  signal: AbortSignal,
): Promise<OwnedMediaPage | Failure> {
  const query = { ids: mediaIds, fields: `${FIELDS},from`, own: MEANINGS };
  const nodes = await readExisting(openGraph(api, account, signal), query);
  if ("kind" in nodes) return nodes;
  const own = nodes.filter((node) => text(object(node, "from"), "id") === account.externalId);
  return toPage(own, undefined);
}

function toStateCall(commentId: string): ApiCall {
  const query = { fields: "created_time,private_reply_conversation" };
  return { path: encodeURIComponent(commentId), query };
}

async function readState(
  api: GraphApi,
  account: AccountAccess,
  commentId: string,
  signal: AbortSignal,
): Promise<CommentState | undefined> {
  const answer = await ask(openGraph(api, account, signal), toStateCall(commentId));
  if (answer.kind === "no_answer" || answer.status !== 200) return undefined;
  const createdAt = new Date(text(answer.json, "created_time") ?? "");
  const conversation = object(answer.json, "private_reply_conversation");
  return Number.isNaN(createdAt.getTime())
    ? undefined
    : { createdAt, hasPrivateReply: conversation !== undefined };
}

/**
 * Reads whether the comment has a private reply. When Facebook does not show one, the call may be
 * repeated after its deadline: Facebook accepts only one private reply per comment and refuses a
 * second one as a duplicate, even if the first one takes effect late.
 */
async function reconcile(
  api: GraphApi,
  account: AccountAccess,
  { commentId }: { readonly commentId: string },
  { call, signal }: { readonly call: UnknownCall; readonly signal: AbortSignal },
): Promise<Verdict | Missing> {
  const answer = await ask(openGraph(api, account, signal), toStateCall(commentId));
  const remainingMs = -elapsedMs(call);
  if (answer.kind === "answer") {
    if (isMissing(answer)) return { kind: "missing" };
    const failure = toGraphFailure(answer, MEANINGS);
    const retryAfterMs = failure?.kind === "retryable" ? failure.retryAfterMs : undefined;
    if (retryAfterMs !== undefined)
      return { kind: "look_again", afterMs: retryAfterMs, isIncomplete: true };
    if (answer.status === 200 && object(answer.json, "private_reply_conversation") !== undefined)
      return { kind: "present", externalId: null, permalink: null };
  }
  return remainingMs > 0 ? { kind: "look_again", afterMs: remainingMs } : { kind: "repeat" };
}

export function createFacebookPrivateRepliesConnector(api: GraphApi): PrivateRepliesConnector {
  return {
    platform: "facebook",
    windowMs: PRIVATE_REPLY_WINDOW_MS,
    maxBytes: PRIVATE_REPLY_MAX_BYTES,
    // The owner of the video is read first.
    pollBudget: { ...POLL_BUDGET, unitsPerPage: 2 },
    listMedia: (account, query, signal) => listMedia(api, account, query, signal),
    readMedia: (account, ids, signal) => readMedia(api, account, ids, signal),
    send: (account, request, guard) => {
      const sender = {
        path: `${encodeURIComponent(account.externalId)}/messages`,
        own: MEANINGS,
        readState: (signal: AbortSignal) => readState(api, account, request.commentId, signal),
      };
      return sendPrivateReply(toGraphSite(api, account), { request, sender }, guard);
    },
    reconcile: (account, request, call, signal) =>
      reconcile(api, account, request, { call, signal }),
  };
}
