import { readGraphError, toVisibleFailure } from "#src/graph-api/failures.ts";
import { edgeOf } from "#src/graph-api/graph-request.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { type ApiCall, type Site, toRequest } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { notPrepared, type Outcome, toUnanswered } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { idIn, videoTexts } from "./calls.ts";
import { isLinkRefused, MEANINGS, WITHOUT_LINK } from "./error-meanings.ts";
import { readPermalink } from "./page-posts.ts";
import { type FacebookKind, mayStayDraft, preparedId } from "./post-kind.ts";
import { photoIds, toPostFields } from "./post-steps.ts";
import { finishBody } from "./video-step.ts";

/** The call has no idempotency key, and only its answer contains the id of the post. */
export async function publishDirectly(
  site: Site,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  if (photoIds(publication, handles).length < publication.media.length)
    return notPrepared("the photos are not uploaded");
  const body = formBody({ ...toPostFields(publication, handles), published: "true" });
  const call = { method: "POST", path: edgeOf(publication, "feed"), body } as const;
  const sent = await sendOnce(toRequest(site, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  const id = idIn(sent);
  if (id === undefined) return toDirectFailure(sent, handles);
  const permalink = await readPermalink(site, id);
  return { kind: "published", externalId: id, permalink };
}

/** A post whose link was refused is sent again without it. */
function toDirectFailure(answer: PlatformAnswer, handles: Handles): Outcome {
  const failure = toVisibleFailure(answer, MEANINGS);
  return failure.kind === "refused" && isLinkRefused(answer, handles)
    ? { ...failure, kind: "retryable", retryAfterMs: 0, handles: WITHOUT_LINK }
    : failure;
}

const VIDEO_CHECK_MS = 1000;

/** The call may be repeated, because it addresses the post by its id. */
function toCall(kind: FacebookKind, publication: Publication, id: string): ApiCall {
  const path = encodeURIComponent(id);
  switch (kind) {
    case "post":
      return { method: "POST", path, body: formBody({ is_published: "true" }) };
    case "video":
      return { method: "POST", path, body: formBody({ published: "true" }) };
    case "reel": {
      const body = formBody({
        upload_phase: "finish",
        video_id: id,
        video_state: "PUBLISHED",
        ...videoTexts(publication),
      });
      return { method: "POST", path: edgeOf(publication, "video_reels"), body };
    }
  }
}

export async function publishPrepared(
  site: Site,
  kind: FacebookKind,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const id = preparedId(kind, handles);
  if (id === undefined) return notPrepared("the post was not prepared");
  const sent = await sendOnce(toRequest(site, toCall(kind, publication, id)), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  if (sent.status !== 200 || sent.json?.success !== true) return toVisibleFailure(sent, MEANINGS);
  if (kind === "reel" || (kind === "video" && mayStayDraft(publication)))
    return { kind: "pending", afterMs: VIDEO_CHECK_MS };
  const permalink = await readPermalink(site, id);
  return { kind: "published", externalId: id, permalink };
}

const UPLOAD_ENDED: ReadonlySet<number | undefined> = new Set([6000, 6001]);

/**
 * The upload belongs to one video, whose id is known before this call, so a second call cannot
 * publish a second video.
 */
export async function publishUploaded(
  videoSite: Site,
  publication: Publication,
  session: string,
  guard: SendGuard,
): Promise<Outcome> {
  const body = finishBody(publication, session, true);
  const call = { method: "POST", path: edgeOf(publication, "videos"), body } as const;
  const sent = await sendOnce(toRequest(videoSite, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  return sent.status === 200 && sent.json?.success === true
    ? { kind: "pending", afterMs: VIDEO_CHECK_MS }
    : toUploadedFailure(sent);
}

function toUploadedFailure(answer: PlatformAnswer): Outcome {
  const failure = toVisibleFailure(answer, MEANINGS);
  const { message } = failure;
  const isEnded = UPLOAD_ENDED.has(readGraphError(answer)?.code);
  return failure.kind === "refused" && isEnded ? { kind: "unknown", message } : failure;
}
