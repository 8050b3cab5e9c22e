import { object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { jsonBody, type RequestBody } from "#src/http/request-body.ts";
import { sendOnce, toUnanswered } from "#src/http/send-once.ts";
import type {
  Connector,
  Handles,
  Outcome,
  Publication,
  SendGuard,
} from "#src/publishing/connector.ts";
import { deleteTweet } from "./delete.ts";
import { limitedForMs, toFailure } from "./failures.ts";
import { findTwinTweet, reconcileByTimeline } from "./reconcile.ts";
import { readUpload, type Upload } from "./upload-state.ts";
import { createUploadStep } from "./upload-step.ts";

function toOutcome(answer: PlatformAnswer, publication: Publication): Outcome {
  const id = text(object(answer.json, "data"), "id");
  if (answer.status >= 200 && answer.status < 300 && id !== undefined) {
    return {
      kind: "published",
      externalId: id,
      permalink: `https://x.com/${publication.username}/status/${id}`,
    };
  }
  const failure = answer.json === undefined ? undefined : toFailure(answer);
  if (failure !== undefined) return failure;
  const message = `HTTP ${answer.status}`;
  // X names its limit in headers. Whether a post can exist after a 429 is not documented, so it is looked for first.
  if (answer.status === 429)
    return { kind: "unknown", message, limitedForMs: limitedForMs(answer) };
  return { kind: "unknown", message };
}

function toUploads(publication: Publication, handles: Handles): readonly Upload[] {
  return publication.media.flatMap((_media, index) => readUpload(handles, index) ?? []);
}

function toBody({ text: words }: Publication, uploads: readonly Upload[]): RequestBody {
  const media = { media_ids: uploads.map(({ id }) => id) };
  return jsonBody({
    ...(words === "" ? {} : { text: words }),
    ...(uploads.length === 0 ? {} : { media }),
  });
}

async function publish(
  baseUrl: string,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const uploads = toUploads(publication, handles);
  if (uploads.length < publication.media.length)
    return { kind: "retryable", code: "internal_error", message: "the media is not uploaded" };
  const headers = { authorization: `Bearer ${publication.accessToken}` };
  const sent = await sendOnce(
    {
      method: "POST",
      url: `${baseUrl}/2/tweets`,
      headers,
      body: toBody(publication, uploads),
    },
    guard,
  );
  return sent.kind === "answer" ? toOutcome(sent, publication) : toUnanswered(sent);
}

/** X API v2: no key and no client id; an unknown outcome is settled by reading the account's own timeline. */
export function createXConnector(options: {
  readonly baseUrl: string;
  readonly mayResend: boolean;
}): Connector {
  return {
    platform: "x",
    maxResends: options.mayResend ? 1 : 0,
    steps: ({ media }) => media.map((_media, index) => createUploadStep(options.baseUrl, index)),
    publish: (publication, handles, guard) => publish(options.baseUrl, publication, handles, guard),
    reconcile: (publication, handles, call, signal) => {
      const mediaKeys = toUploads(publication, handles).map(({ key }) => key);
      return reconcileByTimeline(options.baseUrl, { publication, mediaKeys }, call, signal);
    },
    findTwin: (publication, handles, call, signal) => {
      const mediaKeys = toUploads(publication, handles).map(({ key }) => key);
      return findTwinTweet(options.baseUrl, { publication, mediaKeys }, call, signal);
    },
    canDelete: true,
    delete: (account, externalId, signal) =>
      deleteTweet(options.baseUrl, account, externalId, signal),
  };
}
