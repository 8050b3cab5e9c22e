import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { type Failure, platformUnavailable, refused } from "#src/publishing/outcome.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import {
  type PrepareStep,
  runAgain,
  type StepResult,
  type StepWait,
} from "#src/publishing/steps.ts";
import { toStepFailure } from "./failures.ts";
import {
  askSession,
  beginSession,
  sessionUriOf,
  toPut,
  toSessionState,
  UPLOAD,
  type Upload,
} from "./upload-calls.ts";

export interface UploadOptions {
  readonly baseUrl: string;
  readonly chunkBytes: number;
}

interface VideoUpload extends Caller {
  readonly publication: Publication;
  readonly media: PublicationMedia;
}

function toFailure(answer: PlatformAnswer | NoAnswer): Failure {
  return answer.kind === "answer" ? toStepFailure(answer) : platformUnavailable(answer.message);
}

function next(upload: Upload): StepWait {
  return runAgain(UPLOAD.write(upload));
}

/**
 * Each answer is stored before the next call. YouTube may have received more than the stored
 * progress says, so every attempt begins by reading the state of the session, which also finds a
 * video that an earlier call created although the answer was lost.
 */
class UploadStep implements PrepareStep {
  readonly name = "upload";
  readonly #options: UploadOptions;
  #isCurrent = false;
  #hasStarted = false;

  constructor(options: UploadOptions) {
    this.#options = options;
  }

  isDone(handles: Handles): boolean {
    const upload = UPLOAD.read(handles);
    return upload?.video !== undefined || (this.#isCurrent && upload?.isOffered === true);
  }

  async run(publication: Publication, handles: Handles, signal: AbortSignal): Promise<StepResult> {
    const [media] = publication.media;
    if (media?.kind !== "video" || publication.media.length > 1)
      return refused("media_rejected", "a YouTube post consists of exactly one video");
    if ((publication.title ?? "") === "")
      return refused("content_rejected", "a YouTube video needs a title");
    const upload = UPLOAD.read(handles);
    const { baseUrl } = this.#options;
    const video = { baseUrl, account: publication, signal, publication, media };
    if (upload === undefined) return await this.#start(video);
    if (!this.#isCurrent) return await this.#look(video, upload);
    const isLast = media.bytes - upload.stored <= this.#options.chunkBytes;
    if (isLast) return UPLOAD.write({ ...upload, isOffered: true });
    return await this.#send(video, upload);
  }

  async #start(video: VideoUpload): Promise<StepResult> {
    if (this.#hasStarted) return platformUnavailable("YouTube has lost the upload session");
    const answer = await beginSession(video, video.publication, video.media);
    if (answer.kind === "no_answer" || answer.status !== 200) return toFailure(answer);
    const uri = sessionUriOf(answer, video.baseUrl);
    if (uri === undefined) return platformUnavailable("YouTube answered without an upload URI");
    this.#hasStarted = true;
    this.#isCurrent = true;
    return next({ uri, startedAt: Date.now(), stored: 0, isOffered: false });
  }

  async #look(video: VideoUpload, upload: Upload): Promise<StepResult> {
    const { publication, media, signal } = video;
    const answer = await askSession(publication, upload.uri, media.bytes, signal);
    return await this.#follow(video, upload, answer);
  }

  async #send(video: VideoUpload, upload: Upload): Promise<StepResult> {
    const { publication, media, signal } = video;
    const part = { media, start: upload.stored, length: this.#options.chunkBytes };
    const answer = await callPlatform(toPut(publication, upload.uri, part), signal);
    const state = answer.kind === "answer" ? toSessionState(answer, media.bytes) : undefined;
    if (state?.kind === "incomplete" && state.stored <= upload.stored)
      return platformUnavailable("YouTube does not store the bytes that it receives");
    return await this.#follow(video, upload, answer);
  }

  async #follow(
    video: VideoUpload,
    upload: Upload,
    answer: PlatformAnswer | NoAnswer,
  ): Promise<StepResult> {
    const { bytes } = video.media;
    const state = answer.kind === "answer" ? toSessionState(answer, bytes) : undefined;
    switch (state?.kind) {
      case "complete":
        return UPLOAD.write({ ...upload, isOffered: true, video: state.video });
      case "incomplete":
        this.#isCurrent = true;
        return next({ ...upload, stored: state.stored });
      case "received":
        // Another session would publish the video twice, if this one makes it in the end.
        return {
          kind: "retryable",
          code: "outcome_unknown",
          message: "YouTube has the whole video and has not completed the upload yet",
        };
      case "gone":
        // The session may have created a video before it ended. Starting again could publish the
        // video twice.
        return upload.isOffered
          ? refused("outcome_unknown", "the upload session has ended")
          : await this.#start(video);
      case undefined:
        return toFailure(answer);
    }
  }
}

export function createUploadStep(options: UploadOptions): PrepareStep {
  return new UploadStep(options);
}
