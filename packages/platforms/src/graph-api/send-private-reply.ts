import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import type { PrivateReplyRequest } from "#src/private-replies/connector.ts";
import { type Site, toRequest } from "#src/publishing/caller.ts";
import { type Failure, type Outcome, refused, toUnanswered } from "#src/publishing/outcome.ts";
import { forComments } from "./comments-connector.ts";
import { type GraphMeanings, readGraphError, toVisibleFailure } from "./failures.ts";

const DAY_MS = 86_400_000;

export const PRIVATE_REPLY_WINDOW_MS = 7 * DAY_MS;
export const PRIVATE_REPLY_MAX_BYTES = 1000;
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

export interface PrivateReplySender {
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
