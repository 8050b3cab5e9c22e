import { readGraphError, toVisibleFailure } from "#src/graph-api/failures.ts";
import { edgeOf } from "#src/graph-api/graph-request.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { formBody } from "#src/http/platform-request.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { type ApiCall, ask, type Site, toRequest } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { notPrepared, type Outcome, toUnanswered } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { idIn, videoTexts } from "./calls.ts";
import { isLinkRefused, MEANINGS, WITHOUT_LINK } from "./error-meanings.ts";
import { READ_TIMEOUT_MS, readPermalink } from "./page-posts.ts";
import { type FacebookKind, mayStayDraft, preparedId } from "./post-kind.ts";
import { photoIds, toPostFields } from "./post-steps.ts";
import { askVideo } from "./video-status.ts";
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

interface Prepared {
  readonly kind: FacebookKind;
  readonly id: string;
}

/** Undefined when Facebook does not say it. */
async function isShown(site: Site, { kind, id }: Prepared): Promise<boolean | undefined> {
  const graph = { ...site, signal: AbortSignal.timeout(READ_TIMEOUT_MS) };
  if (kind === "post") {
    const query = { fields: "is_published" };
    const answer = await ask(graph, { path: encodeURIComponent(id), query });
    const flag = answer.kind === "answer" ? answer.json?.is_published : undefined;
    return typeof flag === "boolean" ? flag : undefined;
  }
  const asked = await askVideo(graph, id);
  if (!("status" in asked)) return undefined;
  const { isPublished, flag, publishing } = asked.status;
  return isPublished || (publishing === "not_started" ? flag : undefined);
}

/**
 * A refused call may repeat one that published the post and whose answer was lost: Facebook then
 * may refuse it as a call with a wrong parameter, which says nothing of the content. So the post
 * itself decides.
 */
async function toPreparedFailure(
  site: Site,
  prepared: Prepared,
  answer: PlatformAnswer,
): Promise<Outcome> {
  const failure = toVisibleFailure(answer, MEANINGS);
  const isAboutContent =
    failure.kind === "refused" && /^(content|media)_rejected$/.test(failure.code);
  if (!isAboutContent) return failure;
  const shown = await isShown(site, prepared);
  if (shown === false) return failure;
  const { message } = failure;
  if (shown === undefined) return { kind: "unknown", message, isAnswered: true };
  const permalink = await readPermalink(site, prepared.id);
  return { kind: "published", externalId: prepared.id, permalink };
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
  if (sent.status !== 200 || sent.json?.success !== true)
    return await toPreparedFailure(site, { kind, id }, sent);
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
  { site, videoSite }: { readonly site: Site; readonly videoSite: Site },
  publication: Publication,
  { id, session }: { readonly id: string; readonly session: string },
  guard: SendGuard,
): Promise<Outcome> {
  const body = finishBody(publication, session, true);
  const call = { method: "POST", path: edgeOf(publication, "videos"), body } as const;
  const sent = await sendOnce(toRequest(videoSite, call), guard);
  if (sent.kind !== "answer") return toUnanswered(sent);
  if (sent.status === 200 && sent.json?.success === true)
    return { kind: "pending", afterMs: VIDEO_CHECK_MS };
  const failure = await toPreparedFailure(site, { kind: "video", id }, sent);
  const isEnded = UPLOAD_ENDED.has(readGraphError(sent)?.code);
  return failure.kind === "refused" && isEnded
    ? { kind: "unknown", message: failure.message, isAnswered: true }
    : failure;
}
