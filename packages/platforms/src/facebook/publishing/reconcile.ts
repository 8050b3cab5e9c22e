import { isMissing, toGraphFailure } from "#src/graph-api/failures.ts";
import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import {
  elapsedMs,
  isLastLookDue,
  lookAfter,
  nextLook,
  repeatLook,
} from "#src/publishing/look-schedule.ts";
import { refused } from "#src/publishing/outcome.ts";
import { judgeMatchingPosts } from "#src/publishing/search.ts";
import { cannotTell, present, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import type { FacebookContext } from "./calls.ts";
import { MEANINGS } from "./error-meanings.ts";
import { findSimilarPosts, toPermalink } from "./page-posts.ts";
import { type FacebookKind, mayStayDraft, preparedId } from "./post-kind.ts";
import { photoIds } from "./post-steps.ts";
import { askVideo, type VideoStatus } from "./video-status.ts";
import { uploadedVideo } from "./video-step.ts";

/**
 * A post with photos is recognized by the photo ids only, because the photos were uploaded for it
 * alone; a post without photos by its text.
 */
export async function reconcileDirect(
  context: FacebookContext,
  handles: Handles,
  call: UnknownCall,
): Promise<Verdict> {
  const { publication } = context;
  const similar = await findSimilarPosts(context, handles, call);
  if ("kind" in similar) return similar;
  const hasPhotos = photoIds(publication, handles).length > 0;
  const posts = similar.filter(({ isProven }) => isProven === true || !hasPhotos);
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
 * Repeating a call that only sets the flag of a prepared post is harmless and also resolves the
 * outcome, except during a rate limit.
 */
function onUnreadable(
  answer: PlatformAnswer | NoAnswer,
  { isFlag, call }: { readonly isFlag: boolean; readonly call: UnknownCall },
): Verdict {
  const failure = answer.kind === "answer" ? toGraphFailure(answer, MEANINGS) : undefined;
  if (answer.kind === "answer" && isMissing(answer))
    return nextLook(call) ?? cannotTell("Facebook no longer finds the prepared post");
  if (failure?.kind === "retryable")
    return { kind: "look_again", afterMs: failure.retryAfterMs ?? MINUTE_MS, isIncomplete: true };
  if (isFlag) return { kind: "repeat" };
  return failure === undefined
    ? repeatLook(call)
    : cannotTell(`Facebook refuses to show the video: ${failure.message}`);
}

async function lookAtPost(graph: Caller, id: string, call: UnknownCall): Promise<Verdict> {
  const query = { fields: "is_published,permalink_url" };
  const answer = await ask(graph, { path: encodeURIComponent(id), query });
  const unreadable = () => onUnreadable(answer, { isFlag: true, call });
  if (answer.kind === "no_answer" || answer.status !== 200) return unreadable();
  const { json } = answer;
  if (json?.is_published === true) return present(id, toPermalink(id, text(json, "permalink_url")));
  return json?.is_published === false ? NOT_PUBLISHED : unreadable();
}

const DRAFT = refused(
  "media_rejected",
  "Facebook keeps the upright video as the draft of a reel, which readers never see. Send it as a reel: 9:16, at least 540x960, 3 to 90 seconds",
);

/**
 * Facebook does not document whether a second call creates a second reel, so the call is repeated
 * only after the status was read at all scheduled times. An upright video that does not become
 * visible has become a draft.
 */
function judgeVideo(
  { processing, publishing, problem }: VideoStatus,
  { mayBeDraft, call }: { readonly mayBeDraft: boolean; readonly call: UnknownCall },
): Verdict {
  if (processing === "error") return refused("media_rejected", problem);
  const checkMs = VIDEO_CHECKS_MS[Math.min(call.looks, VIDEO_CHECKS_MS.length - 1)] ?? 0;
  if (publishing === "in_progress" || processing === "in_progress")
    return elapsedMs(call) < MAX_VIDEO_MS * call.timeScale
      ? lookAfter(checkMs, call)
      : cannotTell("the video is still being published");
  if (!isLastLookDue(call)) return lookAfter(checkMs, call);
  return mayBeDraft && call.isPending === true ? DRAFT : { kind: "absent" };
}

/** Without its flag, the video proves nothing, and setting the flag again is harmless. */
function judgeFlag({ flag }: VideoStatus): Verdict {
  return flag === false ? NOT_PUBLISHED : { kind: "repeat" };
}

interface VideoOfPost {
  readonly id: string;
  readonly isReel: boolean;
  /**
   * Whether the publishing call can be repeated at once, because it only sets a flag of the
   * processed video.
   */
  readonly isFlag: boolean;
}

async function lookAtVideo(
  { graph, publication }: FacebookContext,
  { id, isReel, isFlag }: VideoOfPost,
  call: UnknownCall,
): Promise<Verdict> {
  const mayBeDraft = !isReel && mayStayDraft(publication);
  const asked = await askVideo(graph, id);
  if (!("status" in asked)) return onUnreadable(asked.answer, { isFlag, call });
  const { status } = asked;
  const isShown = !isReel && !mayBeDraft && status.processing === "complete";
  if (status.isPublished || (isShown && call.isPending === true))
    return present(id, toPermalink(id, status.permalink));
  if (isFlag && call.isPending !== true) return judgeFlag(status);
  return judgeVideo(status, { mayBeDraft, call });
}

/** A flag in the answer says whether readers see the post. */
export async function reconcilePrepared(
  context: FacebookContext,
  kind: FacebookKind,
  handles: Handles,
  call: UnknownCall,
): Promise<Verdict> {
  const id = preparedId(kind, handles);
  if (id === undefined) return cannotTell("the id of the prepared post is not known");
  if (kind === "post") return await lookAtPost(context.graph, id, call);
  const isFlag = kind === "video" && uploadedVideo(handles)?.stage === "ready";
  return await lookAtVideo(context, { id, isReel: kind === "reel", isFlag }, call);
}
