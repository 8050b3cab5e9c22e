import { callPlatform, type NoAnswer } from "#src/http/http.ts";
import type { PlatformAnswer } from "#src/http/platform-answer.ts";
import type {
  Failure,
  Handles,
  PrepareStep,
  Publication,
  PublicationMedia,
  StepResult,
  StepWait,
} from "#src/publishing/connector.ts";
import { toStepFailure } from "./failures.ts";
import { askSession, beginSession, sessionUriOf, toPut, toSessionState } from "./upload-calls.ts";
import { readUpload, toHandles, type Upload } from "./upload-state.ts";

export interface UploadOptions {
  readonly baseUrl: string;
  /** Of all parts but the last: a multiple of 256 KiB. */
  readonly chunkBytes: number;
}

function unavailable(message: string): Failure {
  return { kind: "retryable", code: "platform_unavailable", message };
}

function toFailure(answer: PlatformAnswer | NoAnswer): Failure {
  return answer.kind === "answer" ? toStepFailure(answer) : unavailable(answer.message);
}

/** Stored, and the step goes on at once. */
function next(upload: Upload): StepWait {
  return { kind: "wait", afterMs: 0, handles: toHandles(upload) };
}

/**
 * Sends all of the video but its last part, which is the visible call. Each answer of YouTube is stored before the next
 * call. What is stored may be less than what YouTube has, so every try begins by asking the session; that also finds the
 * video that an earlier call has made after all.
 */
class UploadStep implements PrepareStep {
  readonly name = "upload";
  readonly #options: UploadOptions;
  /** Whether the stored state is what the session itself said in this try. */
  #isCurrent = false;
  #hasBegun = false;

  constructor(options: UploadOptions) {
    this.#options = options;
  }

  isDone(handles: Handles): boolean {
    const upload = readUpload(handles);
    return upload?.video !== undefined || (this.#isCurrent && upload?.isOffered === true);
  }

  async run(publication: Publication, handles: Handles, signal: AbortSignal): Promise<StepResult> {
    const [media] = publication.media;
    if (media?.kind !== "video" || publication.media.length > 1)
      return { kind: "refused", code: "media_rejected", message: "a post is one video" };
    if ((publication.title ?? "") === "")
      return { kind: "refused", code: "content_rejected", message: "a video needs a title" };
    const upload = readUpload(handles);
    if (upload === undefined) return await this.#begin(publication, media, signal);
    if (!this.#isCurrent) return await this.#look(publication, media, upload, signal);
    const isLast = media.bytes - upload.stored <= this.#options.chunkBytes;
    if (isLast) return toHandles({ ...upload, isOffered: true });
    return await this.#send(publication, media, upload, signal);
  }

  async #begin(
    publication: Publication,
    media: PublicationMedia,
    signal: AbortSignal,
  ): Promise<StepResult> {
    if (this.#hasBegun) return unavailable("YouTube has lost the upload");
    const { baseUrl } = this.#options;
    const answer = await beginSession(baseUrl, publication, media, signal);
    if (answer.kind === "no_answer" || answer.status !== 200) return toFailure(answer);
    const uri = sessionUriOf(answer, baseUrl);
    if (uri === undefined) return unavailable("no address for the upload came");
    this.#hasBegun = true;
    this.#isCurrent = true;
    return next({ uri, startedAt: Date.now(), stored: 0, isOffered: false });
  }

  async #look(
    publication: Publication,
    media: PublicationMedia,
    upload: Upload,
    signal: AbortSignal,
  ): Promise<StepResult> {
    const answer = await askSession(publication, upload.uri, media.bytes, signal);
    return await this.#follow(publication, media, { upload, answer }, signal);
  }

  async #send(
    publication: Publication,
    media: PublicationMedia,
    upload: Upload,
    signal: AbortSignal,
  ): Promise<StepResult> {
    const part = { media, start: upload.stored, length: this.#options.chunkBytes };
    const answer = await callPlatform(toPut(publication, upload.uri, part), signal);
    const state = answer.kind === "answer" ? toSessionState(answer) : undefined;
    if (state?.kind === "incomplete" && state.stored <= upload.stored)
      return unavailable("YouTube does not keep what it is sent");
    return await this.#follow(publication, media, { upload, answer }, signal);
  }

  async #follow(
    publication: Publication,
    media: PublicationMedia,
    { upload, answer }: { upload: Upload; answer: PlatformAnswer | NoAnswer },
    signal: AbortSignal,
  ): Promise<StepResult> {
    const state = answer.kind === "answer" ? toSessionState(answer) : undefined;
    switch (state?.kind) {
      case "complete":
        return toHandles({ ...upload, isOffered: true, video: state.video });
      case "incomplete":
        if (state.stored >= media.bytes) return unavailable("YouTube has not ended the upload yet");
        this.#isCurrent = true;
        return next({ ...upload, stored: state.stored });
      case "gone":
        // There may have been a video before the session ended, so another one could be the second.
        if (upload.isOffered)
          return { kind: "refused", code: "outcome_unknown", message: "the upload has ended" };
        return await this.#begin(publication, media, signal);
      case undefined:
        return toFailure(answer);
    }
  }
}

export function createUploadStep(options: UploadOptions): PrepareStep {
  return new UploadStep(options);
}
