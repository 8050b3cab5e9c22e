import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Details } from "#src/publishing/details.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { AccountAccess, MediaPart, Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { CHUNK_SIZES, type ChunkSizes } from "./chunk-plan.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import { kindOf, toPermalink } from "./post-links.ts";
import { createCreatorStep, publishPhotos } from "./publish-photos.ts";
import { fetchStatus } from "./publish-status.ts";
import { findLastChunk, publishVideo } from "./publish-video.ts";
import { reconcileByStatus } from "./reconcile.ts";
import { retryPauseStep } from "./retry-pause.ts";
import { readUpload } from "./upload-state.ts";
import { createUploadStep } from "./upload-step.ts";

export interface TiktokSettings {
  readonly baseUrl: string;
  readonly chunkSizes?: ChunkSizes;
}

/** TikTok itself reports whether an earlier call can still publish anything. */
const MAX_RESENDS = 8;

async function reconcile(
  baseUrl: string,
  publication: Publication,
  handles: Handles,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const access = { baseUrl, account: publication };
  const publishId = readUpload(handles)?.publishId ?? handles.publishId;
  if (publishId !== undefined)
    return await reconcileByStatus({ access, publication, handles, call, publishId }, signal);
  if (kindOf(publication) === "photo")
    return await findMatchingPost(access, publication, call, signal);
  return { kind: "cannot_tell", message: "the publish id is not known" };
}

async function findDetails(
  baseUrl: string,
  account: AccountAccess,
  { publishId = "", kind = "video" }: Handles,
  signal: AbortSignal,
): Promise<Details> {
  const status = await fetchStatus({ baseUrl, account }, publishId, signal);
  if (status.kind === "no_status") return { kind: "not_yet" };
  const { postId } = status;
  if (postId === null) return { kind: status.status === "FAILED" ? "never" : "not_yet" };
  return { kind: "found", externalId: postId, permalink: toPermalink(account, kind, postId) };
}

function toVisibleParts(publication: Publication, handles: Handles): readonly MediaPart[] {
  const last = kindOf(publication) === "video" ? findLastChunk(publication, handles) : undefined;
  return last === undefined ? [] : [last.part];
}

/**
 * TikTok's publishing connector. A video is uploaded in chunks and posted when the last chunk has
 * arrived, so sending the last chunk is the publishing call. TikTok fetches photos itself: the init
 * call of a photo post is the publishing call, and only its answer contains the id of the
 * publication (publish id).
 */
export function createTiktokPublishingConnector({
  baseUrl,
  chunkSizes = CHUNK_SIZES,
}: TiktokSettings): PublishingConnector {
  return {
    platform: "tiktok",
    maxResends: MAX_RESENDS,
    steps: (publication) => [
      retryPauseStep,
      kindOf(publication) === "video"
        ? createUploadStep(baseUrl, chunkSizes)
        : createCreatorStep(baseUrl),
    ],
    visibleParts: toVisibleParts,
    publish: (publication, handles, guard) =>
      kindOf(publication) === "video"
        ? publishVideo(publication, handles, guard)
        : publishPhotos({ baseUrl, account: publication }, publication, handles, guard),
    reconcile: (publication, handles, call, signal) =>
      reconcile(baseUrl, publication, handles, call, signal),
    findMatchingPost: (publication, _handles, call, signal) =>
      findMatchingPost({ baseUrl, account: publication }, publication, call, signal),
    findDetails: (account, handles, signal) => findDetails(baseUrl, account, handles, signal),
    canDelete: false,
    delete: () => {
      const message = "TikTok's API cannot delete posts";
      return Promise.resolve({ kind: "refused", code: "permission_missing", message });
    },
  };
}
