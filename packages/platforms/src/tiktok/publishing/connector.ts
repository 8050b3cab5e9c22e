import { type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { type SendGuard, sendOnce } from "#src/http/send-once.ts";
import { type Caller, forAccounts, openAt, type Site, toRequest } from "#src/publishing/caller.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Details } from "#src/publishing/details.ts";
import type { Handles } from "#src/publishing/handles.ts";
import {
  notPrepared,
  type Outcome,
  platformUnavailable,
  refused,
  toUnanswered,
} from "#src/publishing/outcome.ts";
import type { MediaPart, Publication } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import { cannotTell, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { dataOf, toTiktokPost } from "./calls.ts";
import { CHUNK_SIZES, type ChunkSizes } from "./chunk-plan.ts";
import {
  askForCreatorInfo,
  type CreatorInfo,
  privacyLevelOf,
  readCreatorInfo,
  toPhotoFlags,
} from "./creator-info.ts";
import { toEnding, toFailure } from "./failures.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import { fetchStatus, kindOf, type PublishStatus, toPermalink } from "./publish-status.ts";
import { reconcileByStatus } from "./reconcile.ts";
import { retryPauseStep } from "./retry-pause.ts";
import { chunkOf, isReady, mayBeComplete, UPLOAD, type Upload } from "./upload-state.ts";
import { createUploadStep, toChunkRequest } from "./upload-step.ts";

const FIRST_LOOK_MS = 1000;

function toBody(publication: Publication, creator: CreatorInfo) {
  const { title, text: description, media } = publication;
  return {
    media_type: "PHOTO",
    post_mode: "DIRECT_POST",
    post_info: {
      title,
      description,
      privacy_level: privacyLevelOf(publication),
      ...toPhotoFlags(publication, creator),
    },
    source_info: {
      source: "PULL_FROM_URL",
      photo_images: media.map(({ url }) => url),
      photo_cover_index: 0,
    },
  };
}

function toPhotosOutcome(answer: PlatformAnswer): Outcome {
  const publishId = text(dataOf(answer), "publish_id");
  if (publishId !== undefined)
    return { kind: "pending", afterMs: FIRST_LOOK_MS, handles: { publishId } };
  return toFailure(answer) ?? { kind: "unknown", message: `HTTP ${answer.status}` };
}

async function publishPhotos(
  site: Site,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const creator = readCreatorInfo(handles);
  if (creator === undefined) return notPrepared("the creator info was not read");
  const call = toTiktokPost("post/publish/content/init/", toBody(publication, creator));
  const secrets = [...publication.media.map(({ url }) => url), publication.accessToken];
  const sent = await sendOnce(toRequest(site, { ...call, secrets }), guard);
  return sent.kind === "answer" ? toPhotosOutcome(sent) : toUnanswered(sent);
}

function createCreatorStep(baseUrl: string): PrepareStep {
  return {
    name: "creator",
    isDone: (handles) => readCreatorInfo(handles) !== undefined,
    run: async (publication, _handles, signal) =>
      await askForCreatorInfo({ baseUrl, account: publication, signal }, publication),
  };
}

/** TikTok's answer to an upload does not say how long to wait. */
const LIMIT_WAIT_MS = 60_000;

function findLastChunk(
  { media: [media] }: Publication,
  handles: Handles,
): { readonly upload: Upload; readonly part: MediaPart } | undefined {
  const upload = UPLOAD.read(handles);
  if (media === undefined || upload === undefined || !isReady(upload)) return undefined;
  return { upload, part: chunkOf(upload, media, upload.chunkCount - 1) };
}

function toVideoOutcome(status: number, upload: Upload): Outcome {
  const message = `HTTP ${status}`;
  switch (status) {
    case 201:
      return { kind: "pending", afterMs: FIRST_LOOK_MS };
    case 400:
    case 413:
    case 415:
      return mayBeComplete(upload)
        ? { kind: "unknown", message, isAnswered: true }
        : refused("media_rejected", message);
    case 429:
      return { kind: "unknown", message, limitedForMs: LIMIT_WAIT_MS };
    default:
      // TikTok may or may not publish the video. The status check later asks TikTok how many bytes
      // of the video it has.
      return { kind: "unknown", message };
  }
}

async function publishVideo(
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const last = findLastChunk(publication, handles);
  if (last === undefined) return notPrepared("the video is not uploaded");
  const sent = await sendOnce(toChunkRequest(last.upload, last.part), guard);
  if (sent.kind === "answer") return toVideoOutcome(sent.status, last.upload);
  // TikTok posts only complete videos, so a video whose last byte was not sent is not posted.
  if (sent.kind === "no_answer" && !sent.isComplete) return platformUnavailable(sent.message);
  return toUnanswered(sent);
}

export interface TiktokSettings {
  readonly baseUrl: string;
  readonly chunkSizes?: ChunkSizes;
}

/** TikTok itself reports whether an earlier call can still publish anything. */
const MAX_RESENDS = 8;

async function reconcile(
  tiktok: Caller,
  publication: Publication,
  handles: Handles,
  call: UnknownCall,
): Promise<Verdict> {
  const publishId = UPLOAD.read(handles)?.publishId ?? handles.publishId;
  if (publishId !== undefined)
    return await reconcileByStatus({ tiktok, publication, handles, call, publishId });
  return kindOf(publication) === "photo"
    ? await findMatchingPost(tiktok, publication, call)
    : cannotTell("the publish id is not known");
}

/** TikTok's moderation can end a publication that TikTok has reported as complete. */
function toWithdrawn({ failReason }: PublishStatus): Details {
  const message = shorten(`TikTok removed the post after it was published: ${failReason}`);
  return { kind: "never", caveat: { code: toEnding(failReason).code, message } };
}

async function findDetails(
  tiktok: Caller,
  { publishId = "", kind = "video" }: Handles,
): Promise<Details> {
  const status = await fetchStatus(tiktok, publishId);
  if (status.kind === "no_status") return { kind: "not_yet" };
  const { postId } = status;
  if (postId === null)
    return status.status === "FAILED" ? toWithdrawn(status) : { kind: "not_yet" };
  const permalink = toPermalink(tiktok.account, kind, postId);
  return { kind: "found", externalId: postId, permalink };
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
  const open = openAt(baseUrl);
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
      reconcile(open(publication, signal), publication, handles, call),
    findMatchingPost: (publication, _handles, call, signal) =>
      findMatchingPost(open(publication, signal), publication, call),
    ...forAccounts(open, { findDetails }),
    givesIdsLater: true,
    canDelete: false,
    delete: () =>
      Promise.resolve(refused("permission_missing", "TikTok's API cannot delete posts")),
  };
}
