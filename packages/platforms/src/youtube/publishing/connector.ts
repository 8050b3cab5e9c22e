import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import { type SendGuard, sendOnce, type SendResult } from "#src/http/send-once.ts";
import { ask, type Caller, forAccounts, openAt } from "#src/publishing/caller.ts";
import type { FindPublication, PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import {
  type DeletionOutcome,
  notPrepared,
  type Outcome,
  platformUnavailable,
  toUnanswered,
} from "#src/publishing/outcome.ts";
import { fileAt, type Publication } from "#src/publishing/publication.ts";
import { CLOCK_TOLERANCE_MS, searchStart } from "#src/publishing/search.ts";
import { cannotTell } from "#src/publishing/verdict.ts";
import { completeVideo, PROCESSED_AFTER_MS } from "./complete-video.ts";
import { reasonOf, toFailure, toVisibleFailure } from "./failures.ts";
import { readSession, searchUploads, toVerdict } from "./search-uploads.ts";
import { restOf, toPut, toSessionState, UPLOAD } from "./upload-calls.ts";
import { createUploadStep } from "./upload-step.ts";
import { toPublished, type UploadedVideo } from "./uploaded-video.ts";

async function deletePost(youtube: Caller, id: string): Promise<DeletionOutcome> {
  const answer = await ask(youtube, { method: "DELETE", path: "youtube/v3/videos", query: { id } });
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  if (answer.status === 204 || reasonOf(answer) === "videoNotFound") return { kind: "deleted" };
  return toFailure(answer) ?? { kind: "unknown", message: `HTTP ${answer.status}` };
}

/**
 * After a restore, the restored upload session or a later one that the restored data lacks may have
 * completed the video.
 */
function createFindMatchingPost(baseUrl: string): FindPublication {
  return async (publication, handles, call, signal) => {
    const upload = UPLOAD.read(handles);
    const state = upload === undefined ? undefined : await readSession(publication, upload, signal);
    if (state?.kind === "complete") return toVerdict(publication, state.video);
    if (state?.kind === "received") return repeatLook(call);
    const since = searchStart(call).getTime();
    const youtube = { baseUrl, account: publication, signal };
    return await searchUploads(youtube, publication, since, call);
  };
}

/**
 * A session that has ended may have created a video, so the channel's uploads are then searched.
 */
function createReconcile(baseUrl: string): FindPublication {
  return async (publication, handles, call, signal) => {
    const upload = UPLOAD.read(handles);
    if (upload === undefined) return cannotTell("the upload session is not known");
    const state = await readSession(publication, upload, signal);
    switch (state?.kind) {
      case "complete":
        return toVerdict(publication, state.video);
      case "incomplete":
        return { kind: "absent" };
      case "gone": {
        if (!upload.isOffered) return { kind: "absent" };
        const since = upload.startedAt - CLOCK_TOLERANCE_MS;
        const youtube = { baseUrl, account: publication, signal };
        const found = await searchUploads(youtube, publication, since, call);
        // YouTube may list an uploaded video late. A list without the video therefore leaves the
        // outcome unknown.
        return found.kind === "absent"
          ? cannotTell("the upload session has ended and no video was found")
          : found;
      }
      case "received":
      case undefined:
        return repeatLook(call);
    }
  };
}

const CHUNK_BYTES = 8 * 1024 * 1024;

export interface YoutubeSettings {
  readonly baseUrl: string;
  readonly chunkBytes?: number;
  /** When it is read whether a published video could be processed, in milliseconds. */
  readonly processedAfterMs?: number;
}

function toFinalOutcome(publication: Publication, video: UploadedVideo): Outcome {
  return { kind: "published", ...toPublished(publication, video) };
}

const answered = (message: string): Outcome => ({ kind: "unknown", message, isAnswered: true });

function toOutcome(answer: PlatformAnswer, publication: Publication): Outcome {
  const state = toSessionState(answer, fileAt(publication, 0).bytes);
  switch (state?.kind) {
    case "complete":
      return toFinalOutcome(publication, state.video);
    case "incomplete":
      return platformUnavailable("YouTube has not received the whole video");
    case "received":
      return answered("YouTube has not completed the upload yet");
    case "gone":
      return answered(`the upload session has ended (HTTP ${answer.status})`);
    case undefined:
      return toVisibleFailure(answer);
  }
}

/**
 * A video exists only when its last byte has arrived, so a call that was interrupted earlier
 * created no video.
 */
function toUnansweredOutcome(sent: Exclude<SendResult, PlatformAnswer>): Outcome {
  if (sent.kind === "no_answer" && !sent.isComplete) return platformUnavailable(sent.message);
  return toUnanswered(sent);
}

async function publish(
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const upload = UPLOAD.read(handles);
  const rest = upload === undefined ? undefined : restOf(publication, upload);
  if (upload === undefined || rest === undefined) return notPrepared("the upload was not started");
  if (upload.video !== undefined) return toFinalOutcome(publication, upload.video);
  const sent = await sendOnce(toPut(publication, upload.uri, rest), guard);
  return sent.kind === "answer" ? toOutcome(sent, publication) : toUnansweredOutcome(sent);
}

/**
 * A resumable upload, whose session works as the idempotency key: sending the last part again
 * returns the same video. YouTube may process the video for hours; publishing does not wait for
 * that, and asks later whether it could be processed.
 */
export function createYoutubePublishingConnector({
  baseUrl,
  chunkBytes = CHUNK_BYTES,
  processedAfterMs = PROCESSED_AFTER_MS,
}: YoutubeSettings): PublishingConnector {
  return {
    platform: "youtube",
    maxResends: Number.MAX_SAFE_INTEGER,
    steps: () => [createUploadStep({ baseUrl, chunkBytes })],
    visibleParts: (publication, handles) => {
      const upload = UPLOAD.read(handles);
      if (upload === undefined || upload.video !== undefined) return [];
      return [restOf(publication, upload)].filter((part) => part !== undefined);
    },
    publish,
    reconcile: createReconcile(baseUrl),
    findMatchingPost: createFindMatchingPost(baseUrl),
    canDelete: true,
    ...forAccounts(openAt(baseUrl), {
      findDetails: (youtube, handles: Handles) => completeVideo(youtube, handles, processedAfterMs),
      delete: deletePost,
    }),
  };
}
