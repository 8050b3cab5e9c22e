import { isMissing, toVisibleFailure } from "#src/graph-api/failures.ts";
import { type GraphApi, openGraph, toGraphSite } from "#src/graph-api/graph-request.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import { ask, type Caller, forAccounts } from "#src/publishing/caller.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { DeletionOutcome, Outcome } from "#src/publishing/outcome.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import { judgeMatchingPosts } from "#src/publishing/search.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import type { FacebookContext } from "./calls.ts";
import { MEANINGS } from "./error-meanings.ts";
import { findSimilarPosts } from "./page-posts.ts";
import { type FacebookKind, kindOf } from "./post-kind.ts";
import { createPhotoStep, createPostStep } from "./post-steps.ts";
import { publishDirectly, publishPrepared, publishUploaded } from "./publish-post.ts";
import { reconcileDirect, reconcilePrepared } from "./reconcile.ts";
import { createReelStep } from "./reel-step.ts";
import { createVideoStep, uploadedVideo } from "./video-step.ts";

/**
 * Facebook gives the same answer when the post no longer exists and when the token has no access to
 * it.
 */
async function deletePost(graph: Caller, id: string): Promise<DeletionOutcome> {
  const path = encodeURIComponent(id);
  const answer = await ask(graph, { method: "DELETE", path });
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 200 && answer.json?.success === true) return { kind: "deleted" };
  if (!isMissing(answer)) return toVisibleFailure(answer, MEANINGS);
  const look = await ask(graph, { path, query: { fields: "id" } });
  const isGone = look.kind === "answer" && isMissing(look);
  return isGone
    ? { kind: "deleted" }
    : { kind: "unknown", message: "Facebook does not say whether the post exists" };
}

/**
 * By the ids of its photos, its video or the prepared post, as far as they are known, else by its
 * text and its number of files.
 */
async function findMatchingPost(
  { graph, publication }: FacebookContext,
  handles: Handles,
  call: UnknownCall,
): Promise<Verdict> {
  const posts = await findSimilarPosts({ graph, publication }, handles, call);
  return "kind" in posts ? posts : await judgeMatchingPosts(posts, publication, call);
}

const SEEN_BY_READERS: Verdict = {
  kind: "refused",
  code: "internal_error",
  message: "the post is visible, although it was not published",
};

export interface FacebookSettings extends GraphApi {
  readonly videoBaseUrl?: string;
  /**
   * Absent = true. It is not verified that every Page accepts the flags that later publish such a
   * post or video. With `false`, a post is visible as soon as it is created; when the answer is
   * lost, the Page's posts are searched for it.
   */
  readonly isTwoPhase?: boolean;
}

function videoApiOf(api: FacebookSettings): GraphApi {
  return { ...api, baseUrl: api.videoBaseUrl ?? api.baseUrl };
}

/**
 * Makes a post visible. How it was prepared decides how, because an operator may have changed
 * `isTwoPhase` since.
 */
function publish(
  api: FacebookSettings,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const kind = kindOf(publication);
  const site = toGraphSite(api, publication);
  if (kind === "post" && api.isTwoPhase === false)
    return publishDirectly(site, publication, handles, guard);
  const video = kind === "video" ? uploadedVideo(handles) : undefined;
  return video?.stage === "uploaded"
    ? publishUploaded(
        { site, videoSite: toGraphSite(videoApiOf(api), publication) },
        publication,
        video,
        guard,
      )
    : publishPrepared(site, kind, publication, handles, guard);
}

function toSteps(api: FacebookSettings, publication: Publication): readonly PrepareStep[] {
  switch (kindOf(publication)) {
    case "post": {
      const photos = publication.media.map((_media, index) => createPhotoStep(api, index));
      return api.isTwoPhase === false ? photos : [...photos, createPostStep(api)];
    }
    case "video":
      return [
        createVideoStep(api, { videoApi: videoApiOf(api), isTwoPhase: api.isTwoPhase !== false }),
      ];
    case "reel":
      return [createReelStep(api)];
  }
}

/** The post of a live check, which no reader sees: its preparation is all of it. */
function isUnpublished({ privacy }: Publication): boolean {
  return privacy === "unpublished";
}

async function endUnpublished({ postId }: Handles): Promise<Outcome> {
  return postId === undefined
    ? { kind: "retryable", code: "internal_error", message: "the post was not prepared" }
    : { kind: "published", externalId: postId, permalink: null };
}

async function findUnpublished(
  context: FacebookContext,
  handles: Handles,
  call: UnknownCall,
): Promise<Verdict> {
  const verdict = await reconcilePrepared(context, "post", handles, call);
  if (verdict.kind === "present") return SEEN_BY_READERS;
  return verdict.kind === "absent" && verdict.isOwnFlag === true
    ? { kind: "present", externalId: handles.postId ?? null, permalink: null }
    : verdict;
}

/**
 * Reels, and with `isTwoPhase` all other posts, are created unpublished, and one call with the
 * stored id makes them visible. That call may be repeated, so an unknown outcome is resolved by
 * reading the post or by repeating the call.
 */
export function createFacebookPublishingConnector(api: FacebookSettings): PublishingConnector {
  const isDirect = (kind: FacebookKind) => kind === "post" && api.isTwoPhase === false;
  const open = (account: AccountAccess, signal: AbortSignal) => openGraph(api, account, signal);
  return {
    platform: "facebook",
    maxResends: api.isTwoPhase === false ? 1 : Number.MAX_SAFE_INTEGER,
    steps: (publication) =>
      toSteps(isUnpublished(publication) ? { ...api, isTwoPhase: true } : api, publication),
    publish: (publication, handles, guard) =>
      isUnpublished(publication)
        ? endUnpublished(handles)
        : publish(api, publication, handles, guard),
    reconcile: (publication, handles, call, signal) => {
      const context = { graph: open(publication, signal), publication };
      if (isUnpublished(publication)) return findUnpublished(context, handles, call);
      const kind = kindOf(publication);
      return isDirect(kind)
        ? reconcileDirect(context, handles, call)
        : reconcilePrepared(context, kind, handles, call);
    },
    // No list shows an unpublished post, so it is found by its id only.
    findMatchingPost: (publication, handles, call, signal) => {
      const context = { graph: open(publication, signal), publication };
      return isUnpublished(publication)
        ? findUnpublished(context, handles, call)
        : findMatchingPost(context, handles, call);
    },
    canDelete: true,
    ...forAccounts(open, { delete: deletePost }),
  };
}
