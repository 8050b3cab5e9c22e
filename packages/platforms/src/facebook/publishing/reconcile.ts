import { isMissing, toGraphFailure } from "#src/graph/failures.ts";
import type { GraphApi } from "#src/graph/graph-call.ts";
import type { NoAnswer } from "#src/http/http.ts";
import { text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Handles, Publication, UnknownCall, Verdict } from "#src/publishing/connector.ts";
import { callGraph } from "./context.ts";
import type { FacebookKind } from "./kind.ts";
import { isLastLookDue, lookAgain, nextLook, passedMs } from "./looks.ts";
import { MEANINGS } from "./meanings.ts";
import { toPermalink } from "./permalink.ts";
import { preparedId } from "./publish.ts";
import { askVideo, type VideoStatus } from "./video-status.ts";

const MINUTE_MS = 60_000;
/** A reel that is being published is waited for so long. */
const REEL_PATIENCE_MS = 30 * MINUTE_MS;
const REEL_CHECKS_MS = [1000, 2000, 5000, 10_000, 30_000];

/** Nothing could be read. Making it visible again is harmless and settles it as well, but not while a limit lasts. */
function onUnreadable(answer: PlatformAnswer | NoAnswer, call: UnknownCall): Verdict {
  if (answer.kind === "no_answer") return { kind: "repeat" };
  if (isMissing(answer)) {
    const message = "what was to be published cannot be found any more";
    return nextLook(call) ?? { kind: "cannot_tell", message };
  }
  const failure = toGraphFailure(answer, MEANINGS);
  if (failure?.kind !== "retryable") return { kind: "repeat" };
  return { kind: "look_again", afterMs: failure.retryAfterMs ?? MINUTE_MS, isIncomplete: true };
}

async function lookAtPost(
  api: GraphApi,
  publication: Publication,
  id: string,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const query = { fields: "is_published,permalink_url" };
  const request = { method: "GET", path: encodeURIComponent(id), query } as const;
  const answer = await callGraph(api, publication, request, signal);
  if (answer.kind === "no_answer" || answer.status !== 200) return onUnreadable(answer, call);
  const { json } = answer;
  if (json?.is_published === true)
    return {
      kind: "present",
      externalId: id,
      permalink: toPermalink(id, text(json, "permalink_url")),
    };
  return json?.is_published === false ? { kind: "absent" } : onUnreadable(answer, call);
}

/**
 * A finished reel becomes visible when Facebook is done with it. That finishing it twice makes no second one is not
 * documented, so it is looked for as long as a late answer can take before it is finished again.
 */
function judgeReel({ processing, publishing, problem }: VideoStatus, call: UnknownCall): Verdict {
  if (processing === "error") return { kind: "refused", code: "media_rejected", message: problem };
  const checkMs = REEL_CHECKS_MS[Math.min(call.looks, REEL_CHECKS_MS.length - 1)] ?? 0;
  if (publishing === "in_progress" || processing === "in_progress")
    return passedMs(call) < REEL_PATIENCE_MS * call.timeScale
      ? lookAgain(checkMs, call)
      : { kind: "cannot_tell", message: "the reel is still being published" };
  return isLastLookDue(call) ? { kind: "absent" } : lookAgain(checkMs, call);
}

async function lookAtVideo(
  api: GraphApi,
  { publication, id, isReel }: { publication: Publication; id: string; isReel: boolean },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const asked = await askVideo(api, publication, id, signal);
  if (!("status" in asked)) return onUnreadable(asked.answer, call);
  const { status } = asked;
  if (status.isPublished)
    return { kind: "present", externalId: id, permalink: toPermalink(id, status.permalink) };
  return isReel ? judgeReel(status, call) : { kind: "absent" };
}

/** Asks for the one object that the call was about, by its stored id: its own flag says whether readers see it. */
export async function reconcilePrepared(
  api: GraphApi,
  kind: FacebookKind,
  { publication, handles }: { readonly publication: Publication; readonly handles: Handles },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const id = preparedId(kind, handles);
  if (id === undefined) return { kind: "cannot_tell", message: "it is not known what was sent" };
  if (kind === "post") return await lookAtPost(api, publication, id, call, signal);
  return await lookAtVideo(api, { publication, id, isReel: kind === "reel" }, call, signal);
}
