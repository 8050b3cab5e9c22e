import { sendOnce, toUnanswered } from "#src/http/send-once.ts";
import type {
  AccountAccess,
  Connector,
  Handles,
  MediaPart,
  Outcome,
  Publication,
  SendGuard,
  UnknownCall,
  Verdict,
} from "#src/publishing/connector.ts";
import type { Details } from "#src/publishing/details.ts";
import { findListedPost } from "./listed-posts.ts";
import { createCreatorStep, publishPhotos } from "./photos.ts";
import { kindOf, toPermalink } from "./post-links.ts";
import { reconcileByStatus } from "./reconcile.ts";
import { restStep } from "./rest.ts";
import { fetchStatus } from "./status.ts";
import { chunkOf, isReady, readUpload } from "./upload-state.ts";
import { createUploadStep, toChunkRequest } from "./upload-step.ts";

/** A look or two come before TikTok is done with a short film. */
const FIRST_LOOK_MS = 1000;
/** Every absence is proved by TikTok's own count of bytes or its own end of the publication. */
const MAX_RESENDS = 8;
const LIMITED_MS = 60_000;

/** The last chunk of the film, with which it is whole. */
function findLastChunk({ media: [media] }: Publication, handles: Handles) {
  const upload = readUpload(handles);
  if (media === undefined || upload === undefined || !isReady(upload)) return undefined;
  return { upload, part: chunkOf(upload, media, upload.chunkCount - 1) };
}

function toOutcome(status: number): Outcome {
  const message = `HTTP ${status}`;
  switch (status) {
    case 201:
      return { kind: "pending", afterMs: FIRST_LOOK_MS };
    case 400:
    case 413:
    case 415:
      return { kind: "refused", code: "media_rejected", message };
    case 429:
      return { kind: "unknown", message, limitedForMs: LIMITED_MS };
    default:
      // How much TikTok has, and whether that is all, is for its status to say.
      return { kind: "unknown", message };
  }
}

async function publishVideo(
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const last = findLastChunk(publication, handles);
  if (last === undefined)
    return { kind: "retryable", code: "internal_error", message: "the film is not uploaded" };
  const sent = await sendOnce(toChunkRequest(last.upload, last.part), guard);
  if (sent.kind === "answer") return toOutcome(sent.status);
  // Without its last byte the film is not whole, and TikTok posts whole films only.
  if (sent.kind === "no_answer" && !sent.isComplete)
    return { kind: "retryable", code: "platform_unavailable", message: sent.message };
  return toUnanswered(sent);
}

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
    return await findListedPost(access, publication, call, signal);
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
 * TikTok's direct post. A film is uploaded in chunks, and nothing is posted before the last one has arrived, so the last
 * one is the visible call and its publish id says what became of it. Photos are fetched by TikTok, and their init, whose
 * answer is the only thing that names the publication, posts them.
 */
export function createTiktokConnector({ baseUrl }: { readonly baseUrl: string }): Connector {
  return {
    platform: "tiktok",
    maxResends: MAX_RESENDS,
    steps: (publication) => [
      restStep,
      kindOf(publication) === "video" ? createUploadStep(baseUrl) : createCreatorStep(baseUrl),
    ],
    visibleParts: toVisibleParts,
    publish: (publication, handles, guard) =>
      kindOf(publication) === "video"
        ? publishVideo(publication, handles, guard)
        : publishPhotos({ baseUrl, account: publication }, publication, handles, guard),
    reconcile: (publication, handles, call, signal) =>
      reconcile(baseUrl, publication, handles, call, signal),
    findTwin: (publication, _handles, call, signal) =>
      findListedPost({ baseUrl, account: publication }, publication, call, signal),
    findDetails: (account, handles, signal) => findDetails(baseUrl, account, handles, signal),
    canDelete: false,
    delete: () => {
      const message = "TikTok has no way to delete";
      return Promise.resolve({ kind: "refused", code: "permission_missing", message });
    },
  };
}
