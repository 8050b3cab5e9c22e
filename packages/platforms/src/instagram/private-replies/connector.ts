import { toStepFailure } from "#src/graph-api/failures.ts";
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
import { number, text } from "#src/http/platform-answer.ts";
import {
  apiOfAccount,
  type InstagramSettings,
  usesInstagramLogin,
} from "#src/instagram/api-of-account.ts";
import { MEANINGS } from "#src/instagram/publishing/error-meanings.ts";
import type {
  OwnedMedia,
  OwnedMediaPage,
  PrivateRepliesConnector,
} from "#src/private-replies/connector.ts";
import { ask } from "#src/publishing/caller.ts";
import { elapsedMs } from "#src/publishing/look-schedule.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";

const FIELDS = "id,timestamp,comments_count";

function toMedia(entry: unknown): OwnedMedia | undefined {
  const id = text(entry, "id");
  const publishedAt = new Date(text(entry, "timestamp") ?? "");
  return id === undefined || Number.isNaN(publishedAt.getTime())
    ? undefined
    : { id, publishedAt, commentCount: number(entry, "comments_count") ?? null };
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
  const path = `${encodeURIComponent(account.externalId)}/media`;
  const call = { path, query: { fields: FIELDS }, limit, after };
  const read = await readGraphList(openGraph(api, account, signal), call);
  return read.kind === "list" ? toPage(read.entries, read.next) : toStepFailure(read, MEANINGS);
}

async function readMedia(
  api: GraphApi,
  account: AccountAccess,
  mediaIds: readonly string[],
  signal: AbortSignal,
): Promise<OwnedMediaPage | Failure> {
  const query = { ids: mediaIds, fields: FIELDS, own: MEANINGS };
  const nodes = await readExisting(openGraph(api, account, signal), query);
  return "kind" in nodes ? nodes : toPage(nodes, undefined);
}

/**
 * With Facebook Login the Page sends the messages, and Meta refuses the id of the Instagram
 * account; with Instagram Login the account itself sends them.
 */
function messagesPath(account: AccountAccess): string {
  const { externalId, attributes } = account;
  const sender = usesInstagramLogin(account) ? externalId : (attributes.pageId ?? "me");
  return `${encodeURIComponent(sender)}/messages`;
}

async function readState(
  api: GraphApi,
  account: AccountAccess,
  commentId: string,
  signal: AbortSignal,
): Promise<CommentState | undefined> {
  const call = { path: encodeURIComponent(commentId), query: { fields: "timestamp" } };
  const answer = await ask(openGraph(api, account, signal), call);
  if (answer.kind === "no_answer" || answer.status !== 200) return undefined;
  const createdAt = new Date(text(answer.json, "timestamp") ?? "");
  return Number.isNaN(createdAt.getTime()) ? undefined : { createdAt, hasPrivateReply: undefined };
}

/**
 * Instagram does not say whether a comment has a private reply, but accepts only one per comment
 * and refuses a second one as a duplicate, so the call may be repeated after its deadline.
 */
function judge(call: UnknownCall): Verdict {
  const remainingMs = -elapsedMs(call);
  return remainingMs > 0 ? { kind: "look_again", afterMs: remainingMs } : { kind: "repeat" };
}

export function createInstagramPrivateRepliesConnector(
  settings: InstagramSettings,
): PrivateRepliesConnector {
  const apiOf = (account: AccountAccess) => apiOfAccount(settings, account);
  return {
    platform: "instagram",
    windowMs: PRIVATE_REPLY_WINDOW_MS,
    maxBytes: PRIVATE_REPLY_MAX_BYTES,
    pollBudget: { ...POLL_BUDGET, unitsPerPage: 1 },
    listMedia: (account, query, signal) => listMedia(apiOf(account), account, query, signal),
    readMedia: (account, ids, signal) => readMedia(apiOf(account), account, ids, signal),
    send: (account, request, guard) => {
      const api = apiOf(account);
      const sender = {
        path: messagesPath(account),
        own: MEANINGS,
        readState: (signal: AbortSignal) => readState(api, account, request.commentId, signal),
      };
      return sendPrivateReply(toGraphSite(api, account), { request, sender }, guard);
    },
    reconcile: (_account, _request, call) => Promise.resolve(judge(call)),
  };
}
