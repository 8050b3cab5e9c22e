import { object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, jsonBody, type RequestBody } from "#src/http/platform-request.ts";
import { sendOnce, type SendGuard } from "#src/http/send-once.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { toUnanswered } from "#src/publishing/unanswered-call.ts";
import { deletePost } from "./delete-post.ts";
import { limitedForMs, toFailure } from "./failures.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import { reconcile } from "./reconcile.ts";
import { compareSent } from "./timeline-text.ts";
import { toPermalink, type SentPost } from "./timeline.ts";
import { readUpload, type Upload } from "./upload-state.ts";
import { createUploadStep } from "./upload-step.ts";

export interface XSettings {
  readonly baseUrl: string;
  /** Whether a post may be sent to X a second time after searches proved that the first call did not create it. */
  readonly mayResend: boolean;
}

function toOutcome(answer: PlatformAnswer, publication: Publication): Outcome {
  const id = text(object(answer.json, "data"), "id");
  if (answer.status >= 200 && answer.status < 300 && id !== undefined)
    return { kind: "published", externalId: id, permalink: toPermalink(publication, id) };
  const failure = answer.json === undefined ? undefined : toFailure(answer);
  if (failure !== undefined) return failure;
  const message = `HTTP ${answer.status}`;
  // X states the end of its rate limit in headers. Its documentation does not say whether a call answered with 429 can
  // create a post, so the timeline is searched before a repeated call.
  return answer.status === 429
    ? { kind: "unknown", message, limitedForMs: limitedForMs(answer) }
    : { kind: "unknown", message };
}

function listUploads(publication: Publication, handles: Handles): readonly Upload[] {
  return publication.media.flatMap((_media, index) => readUpload(handles, index) ?? []);
}

function toBody({ text: content }: Publication, uploads: readonly Upload[]): RequestBody {
  const media = { media_ids: uploads.map(({ id }) => id) };
  return jsonBody({
    ...(content === "" ? {} : { text: content }),
    ...(uploads.length === 0 ? {} : { media }),
  });
}

async function publish(
  baseUrl: string,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const uploads = listUploads(publication, handles);
  if (uploads.length < publication.media.length)
    return { kind: "retryable", code: "internal_error", message: "the media is not uploaded" };
  const url = `${baseUrl}/2/tweets`;
  const headers = bearer(publication.accessToken);
  const body = toBody(publication, uploads);
  const sent = await sendOnce({ method: "POST", url, headers, body }, guard);
  return sent.kind === "answer" ? toOutcome(sent, publication) : toUnanswered(sent);
}

function toSentPost(publication: Publication, handles: Handles): SentPost {
  return { publication, mediaKeys: listUploads(publication, handles).map(({ key }) => key) };
}

/**
 * The publishing connector of X. X API v2 has no idempotency key; an unknown outcome is resolved by reading the
 * account's own timeline.
 */
export function createXPublishingConnector({ baseUrl, mayResend }: XSettings): PublishingConnector {
  return {
    platform: "x",
    maxResends: mayResend ? 1 : 0,
    steps: ({ media }) => media.map((_media, index) => createUploadStep(baseUrl, index)),
    publish: (publication, handles, guard) => publish(baseUrl, publication, handles, guard),
    comparableText: (text) => JSON.stringify(compareSent(text)),
    reconcile: (publication, handles, call, signal) =>
      reconcile(baseUrl, toSentPost(publication, handles), call, signal),
    findMatchingPost: (publication, handles, call, signal) =>
      findMatchingPost(baseUrl, toSentPost(publication, handles), call, signal),
    canDelete: true,
    delete: (account, externalId, signal) => deletePost(baseUrl, account, externalId, signal),
  };
}
