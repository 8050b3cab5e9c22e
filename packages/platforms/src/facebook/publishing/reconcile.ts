import { isMissing, toGraphFailure } from "#src/graph-api/failures.ts";
import { callGraph, type GraphApi } from "#src/graph-api/graph-request.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { elapsedMs, isLastLookDue, lookAfter, nextLook } from "#src/publishing/look-schedule.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { MEANINGS } from "./error-meanings.ts";
import { listMatchingPosts, readPagePosts, toPermalink } from "./page-posts.ts";
import { type FacebookKind, mayStayDraft, preparedId } from "./post-kind.ts";
import { photoIds } from "./post-steps.ts";
import { askVideo, type VideoStatus } from "./video-status.ts";
import { uploadedVideo } from "./video-step.ts";

/**
 * A post with photos is recognized by the photo ids only, because the photos were uploaded for it
 * alone; a post without photos by its text.
 */
export async function reconcileDirect(
  api: GraphApi,
  { publication, handles }: { readonly publication: Publication; readonly handles: Handles },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const read = await readPagePosts(api, publication, call, signal);
  if ("verdict" in read) return read.verdict;
  const hasPhotos = photoIds(publication, handles).length > 0;
  const posts = listMatchingPosts(publication, handles, read.posts).filter(
    ({ isProven }) => isProven === true || !hasPhotos,
  );
  return await judgeMatchingPosts(posts, publication, call);
}

const MINUTE_MS = 60_000;
/** The post or video itself says that no call has published it. */
const NOT_PUBLISHED = { kind: "absent", isOwnFlag: true } as const;
/**
 * Time in milliseconds after which a Facebook video or reel that is still processed is left to a
 * person to check.
 */
const MAX_VIDEO_MS = 30 * MINUTE_MS;
const VIDEO_CHECKS_MS = [1000, 2000, 5000, 10_000, 30_000];

/**
 * Repeating the publishing call is harmless and also resolves the outcome, except during a rate
 * limit.
 */
function onUnreadable(answer: PlatformAnswer | NoAnswer, call: UnknownCall): Verdict {
  if (answer.kind === "no_answer") return { kind: "repeat" };
  if (isMissing(answer)) {
    const message = "Facebook no longer finds the prepared post";
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
  return json?.is_published === false ? NOT_PUBLISHED : onUnreadable(answer, call);
}

const DRAFT: Verdict = {
  kind: "refused",
  code: "media_rejected",
  message:
    "Facebook keeps the upright video as the draft of a reel, which readers never see. Send it as a reel: 9:16, at least 540x960, 3 to 90 seconds",
};

/**
 * Facebook does not document whether a second call creates a second reel, so the call is repeated
 * only after the status was read at all scheduled times. An upright video that does not become
 * visible has become a draft.
 */
function judgeVideo(
  { processing, publishing, problem }: VideoStatus,
  { mayBeDraft, call }: { readonly mayBeDraft: boolean; readonly call: UnknownCall },
): Verdict {
  if (processing === "error") return { kind: "refused", code: "media_rejected", message: problem };
  const checkMs = VIDEO_CHECKS_MS[Math.min(call.looks, VIDEO_CHECKS_MS.length - 1)] ?? 0;
  if (publishing === "in_progress" || processing === "in_progress")
    return elapsedMs(call) < MAX_VIDEO_MS * call.timeScale
      ? lookAfter(checkMs, call)
      : { kind: "cannot_tell", message: "the video is still being published" };
  if (!isLastLookDue(call)) return lookAfter(checkMs, call);
  return mayBeDraft && call.isPending === true ? DRAFT : { kind: "absent" };
}

interface VideoOfPost {
  readonly publication: Publication;
  readonly id: string;
  readonly isReel: boolean;
  /**
   * Whether the publishing call can be repeated at once, because it only sets a flag of the
   * processed video.
   */
  readonly isFlag: boolean;
}

async function lookAtVideo(
  api: GraphApi,
  { publication, id, isReel, isFlag }: VideoOfPost,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const mayBeDraft = !isReel && mayStayDraft(publication);
  const asked = await askVideo(api, publication, id, signal);
  if (!("status" in asked)) return onUnreadable(asked.answer, call);
  const { status } = asked;
  const isShown = !isReel && !mayBeDraft && status.processing === "complete";
  if (status.isPublished || (isShown && call.isPending === true))
    return { kind: "present", externalId: id, permalink: toPermalink(id, status.permalink) };
  if (isFlag && call.isPending !== true) return NOT_PUBLISHED;
  return judgeVideo(status, { mayBeDraft, call });
}

/** A flag in the answer says whether readers see the post. */
export async function reconcilePrepared(
  api: GraphApi,
  kind: FacebookKind,
  { publication, handles }: { readonly publication: Publication; readonly handles: Handles },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const id = preparedId(kind, handles);
  if (id === undefined)
    return { kind: "cannot_tell", message: "the id of the prepared post is not known" };
  if (kind === "post") return await lookAtPost(api, publication, id, call, signal);
  const isFlag = kind === "video" && uploadedVideo(handles)?.stage === "ready";
  const video = { publication, id, isReel: kind === "reel", isFlag };
  return await lookAtVideo(api, video, call, signal);
}
