import { type JsonObject, time, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type {
  OwnedMedia,
  OwnedMediaPage,
  PollBudget,
  PrivateRepliesConnector,
  UnknownPrivateReply,
  PrivateReplyRequest,
} from "#src/private-replies/connector.ts";
import { type ApiCall, ask, type Site, toRequest } from "#src/publishing/caller.ts";
import { elapsedMs } from "#src/publishing/look-schedule.ts";
import { type Failure, type Outcome, refused, toUnanswered } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import type { Verdict } from "#src/publishing/verdict.ts";
import { forComments } from "./comments-connector.ts";
import { type GraphMeanings, toStepFailure, readGraphError, toVisibleFailure } from "./failures.ts";
import { type GraphApi, openGraph, readGraphList, toGraphSite } from "./graph-request.ts";
import { readExisting } from "./read-nodes.ts";

const DAY_MS = 86_400_000;

const PRIVATE_REPLY_WINDOW_MS = 7 * DAY_MS;
const PRIVATE_REPLY_MAX_BYTES = 1000;
const READ_TIMEOUT_MS = 5000;

/**
 * Errors of calls that send a private reply. 10900 means that the comment has a private reply
 * already; 2534022 and 2018278 mean a message outside of the messaging window, although their code
 * 10 otherwise means a missing permission (Messenger Platform error codes, 2026-03-18); 551 means
 * that the person cannot be reached.
 */
const MEANINGS: GraphMeanings = {
  10900: "duplicate_on_platform",
  2534014: "duplicate_on_platform",
  10903: "content_rejected",
  2534025: "content_rejected",
  "10/2534022": "content_rejected",
  "10/2018278": "content_rejected",
  551: "content_rejected",
  80006: "limit",
};

/**
 * Errors with several possible causes: a second private reply, an old comment, or a person who
 * cannot be reached.
 */
const UNCLEAR = new Set([10_903, 2_534_014, 2_534_025]);
const LATE = new Set([2_534_022, 2_018_278]);

export interface CommentState {
  readonly createdAt: Date;
  readonly hasPrivateReply: boolean | undefined;
}

interface PrivateReplySender {
  readonly path: string;
  readonly own: GraphMeanings;
  /**
   * Of a private reply that was refused without a clear reason; undefined when it cannot be read.
   */
  readonly readState: (signal: AbortSignal) => Promise<CommentState | undefined>;
}

const TOO_OLD = refused(
  "missed",
  "the comment is older than 7 days, so it can no longer be answered privately",
);
const ANSWERED = refused("duplicate_on_platform", "the comment has a private reply already");

async function explain(
  failure: Failure,
  { readState }: PrivateReplySender,
  withinMs: number,
): Promise<Failure> {
  const limitMs = Math.floor(Math.min(READ_TIMEOUT_MS, withinMs));
  const state = limitMs > 0 ? await readState(AbortSignal.timeout(limitMs)) : undefined;
  if (state === undefined) return failure;
  if (state.hasPrivateReply === true) return ANSWERED;
  return Date.now() - state.createdAt.getTime() > PRIVATE_REPLY_WINDOW_MS ? TOO_OLD : failure;
}

async function toFailedOutcome(
  answer: PlatformAnswer,
  sender: PrivateReplySender,
  withinMs: number,
): Promise<Outcome> {
  const outcome = toVisibleFailure(answer, { ...forComments(sender.own), ...MEANINGS });
  const error = readGraphError(answer);
  if (outcome.kind !== "refused" || error === undefined) return outcome;
  const { code, subcode } = error;
  if (LATE.has(subcode)) return TOO_OLD;
  const isUnclear = code !== 10_900 && (UNCLEAR.has(code) || UNCLEAR.has(subcode));
  return isUnclear ? await explain(outcome, sender, withinMs) : outcome;
}

export async function sendPrivateReply(
  graph: Site,
  { request, sender }: { request: PrivateReplyRequest; sender: PrivateReplySender },
  guard: SendGuard,
): Promise<Outcome> {
  const startedAt = performance.now();
  const { commentId, text: message } = request;
  const body = jsonBody({ recipient: { comment_id: commentId }, message: { text: message } });
  const call = { method: "POST", path: sender.path, body } as const;
  const sent = await sendOnce(toRequest(graph, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = sent.status === 200 ? text(sent.json, "message_id") : undefined;
  if (id !== undefined) return { kind: "published", externalId: id, permalink: null };
  return await toFailedOutcome(sent, sender, guard.timeoutMs - (performance.now() - startedAt));
}

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
