import type { Missing } from "#src/comments/connector.ts";
import { text } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { type Failure, type Outcome, toUnanswered, type Unknown } from "#src/publishing/outcome.ts";
import type { AccountAccess } from "#src/publishing/publication.ts";
import { type GraphMeanings, isMissing, toVisibleFailure } from "./failures.ts";
import { callGraph, type GraphApi, toGraphRequest } from "./graph-request.ts";

/**
 * A missing comment is a definite refusal, because the Graph API looks up the comment before it
 * creates a reply.
 */
export function forComments(own: GraphMeanings): GraphMeanings {
  return { ...own, "100/33": "content_rejected", 24: "content_rejected" };
}

export async function sendReply(
  api: GraphApi,
  account: AccountAccess,
  { path, message, own }: { path: string; message: string; own: GraphMeanings },
  guard: SendGuard,
): Promise<Outcome> {
  const call = { method: "POST", path, body: formBody({ message }) } as const;
  const sent = await sendOnce(toGraphRequest(api, account, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = sent.status === 200 ? text(sent.json, "id") : undefined;
  return id === undefined
    ? toVisibleFailure(sent, forComments(own))
    : { kind: "published", externalId: id, permalink: null };
}

export async function changeComment(
  api: GraphApi,
  account: AccountAccess,
  {
    commentId,
    fields,
    own,
  }: { commentId: string; fields: Readonly<Record<string, string>>; own: GraphMeanings },
  signal: AbortSignal,
): Promise<{ readonly kind: "done" } | Missing | Failure | Unknown> {
  const path = encodeURIComponent(commentId);
  const call = { method: "POST", path, body: formBody(fields) } as const;
  const answer = await callGraph(api, account, call, signal);
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 200 && answer.json?.success === true) return { kind: "done" };
  return isMissing(answer) ? { kind: "missing" } : toVisibleFailure(answer, own);
}
