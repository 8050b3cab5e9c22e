import { type JsonObject, time } from "#src/http/platform-answer.ts";
import type {
  OwnedMedia,
  OwnedMediaPage,
  PollBudget,
  PrivateRepliesConnector,
  UnknownPrivateReply,
} from "#src/private-replies/connector.ts";
import { type ApiCall, ask } from "#src/publishing/caller.ts";
import { elapsedMs } from "#src/publishing/look-schedule.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import { type GraphMeanings, toStepFailure } from "./failures.ts";
import { type GraphApi, openGraph, readGraphList, toGraphSite } from "./graph-request.ts";
import { readExisting } from "./read-nodes.ts";
import {
  PRIVATE_REPLY_MAX_BYTES,
  PRIVATE_REPLY_WINDOW_MS,
  sendPrivateReply,
} from "./send-private-reply.ts";

/**
 * Per account, Meta allows at least 4,800 calls in 24 hours: 4,800 times the number of people who
 * engaged with the account, or times the number of its impressions (Graph API rate limits, business
 * use cases, 2026). Of this minimum, polls use two fifths, scheduled refreshes of metrics half, and
 * publishing and replies the rest.
 */
const POLL_BUDGET: Omit<PollBudget, "unitsPerPage"> = {
  scope: "account",
  calls: 1_920,
  windowMs: 86_400_000,
};

/** In what the private replies of Facebook and Instagram differ. */
export interface GraphPrivateReplies extends Pick<PrivateRepliesConnector, "platform"> {
  readonly apiOf: (account: AccountAccess) => GraphApi;
  readonly own: GraphMeanings;
  /** Calls that read a page of comments. */
  readonly unitsPerPage: number;
  /** The edge of an account that lists its media. */
  readonly edge: string;
  readonly listFields: string;
  readonly nodeFields: string;
  readonly isOwn: (node: unknown, account: AccountAccess) => boolean;
  readonly toMedia: (entry: unknown) => OwnedMedia | undefined;
  /** The id of the sender of messages. */
  readonly senderOf: (account: AccountAccess) => string;
  /** Of a comment; the first one is the time at which it was written. */
  readonly stateFields: readonly [createdAt: string, ...others: string[]];
  readonly hasPrivateReply: (comment: JsonObject | undefined) => boolean | undefined;
}

export function toStateCall(
  { stateFields }: Pick<GraphPrivateReplies, "stateFields">,
  commentId: string,
): ApiCall {
  return { path: encodeURIComponent(commentId), query: { fields: stateFields.join(",") } };
}

/**
 * The platforms accept one private reply per comment and refuse a second one as a duplicate, so the
 * call may be repeated after its deadline, even if the first one takes effect late.
 */
export function repeatAfter(call: UnknownPrivateReply): Verdict {
  const remainingMs = -elapsedMs(call);
  return remainingMs > 0 ? { kind: "look_again", afterMs: remainingMs } : { kind: "repeat" };
}

export function createGraphPrivateReplies(
  replies: GraphPrivateReplies,
): Omit<PrivateRepliesConnector, "reconcile"> {
  const { platform, apiOf, own, toMedia, edge, listFields, nodeFields, isOwn } = replies;
  const toPage = (entries: readonly unknown[], next?: string | null): OwnedMediaPage => ({
    kind: "media",
    media: entries.flatMap((entry) => toMedia(entry) ?? []),
    next: next ?? undefined,
  });
  const open = (account: AccountAccess, signal: AbortSignal) =>
    openGraph(apiOf(account), account, signal);
  return {
    platform,
    windowMs: PRIVATE_REPLY_WINDOW_MS,
    maxBytes: PRIVATE_REPLY_MAX_BYTES,
    pollBudget: { ...POLL_BUDGET, unitsPerPage: replies.unitsPerPage },
    listMedia: async (account, { limit, after }, signal) => {
      const path = `${encodeURIComponent(account.externalId)}/${edge}`;
      const call = { path, query: { fields: listFields }, limit, after };
      const read = await readGraphList(open(account, signal), call);
      return read.kind === "list" ? toPage(read.entries, read.next) : toStepFailure(read, own);
    },
    readMedia: async (account, ids, signal) => {
      const nodes = await readExisting(open(account, signal), { ids, fields: nodeFields, own });
      if ("kind" in nodes) return nodes;
      return toPage(nodes.filter((node) => isOwn(node, account)));
    },
    send: async (account, request, guard) => {
      const path = `${encodeURIComponent(replies.senderOf(account))}/messages`;
      const readState = async (signal: AbortSignal) => {
        const answer = await ask(open(account, signal), toStateCall(replies, request.commentId));
        if (answer.kind === "no_answer" || answer.status !== 200) return undefined;
        const createdAt = time(answer.json, replies.stateFields[0]);
        return createdAt === undefined
          ? undefined
          : { createdAt, hasPrivateReply: replies.hasPrivateReply(answer.json) };
      };
      const sender = { path, own, readState };
      return await sendPrivateReply(
        toGraphSite(apiOf(account), account),
        { request, sender },
        guard,
      );
    },
  };
}
