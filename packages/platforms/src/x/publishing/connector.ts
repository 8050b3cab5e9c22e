import type { JsonObject } from "#src/http/platform-answer.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { Outcome } from "#src/publishing/outcome.ts";
import type { Publication, PublicationMedia } from "#src/publishing/publication.ts";
import type { PrepareStep } from "#src/publishing/steps.ts";
import type { SettingsOf } from "#src/settings/field.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { SETTINGS } from "../settings.ts";
import { createAltTextStep, isDescribed } from "./alt-text-step.ts";
import { createPost } from "./create-post.ts";
import { deletePost } from "./delete-post.ts";
import { findMatchingPost } from "./find-matching-post.ts";
import { reconcile } from "./reconcile.ts";
import { compareSent } from "./timeline-text.ts";
import type { SentPost } from "./timeline.ts";
import { readUpload, type Upload } from "./upload-state.ts";
import { createUploadStep } from "./upload-step.ts";

export interface XSettings {
  readonly baseUrl: string;
  /** After searches proved that the first call did not create it. */
  readonly mayResend: boolean;
}

function listUploads(publication: Publication, handles: Handles): readonly Upload[] {
  return publication.media.flatMap((_media, index) => readUpload(handles, index) ?? []);
}

function toSteps(baseUrl: string, file: PublicationMedia, index: number): readonly PrepareStep[] {
  const upload = createUploadStep(baseUrl, index);
  return isDescribed(file) ? [upload, createAltTextStep(baseUrl, index)] : [upload];
}

/** X's values for who may reply to a post; X has no value for everyone. */
const REPLY_SETTINGS = {
  everyone: {},
  following: { reply_settings: "following" },
  mentioned: { reply_settings: "mentionedUsers" },
} satisfies Record<SettingsOf<typeof SETTINGS>["replySettings"], JsonObject>;

function toBody({ text: content, settings }: Publication, uploads: readonly Upload[]): JsonObject {
  const media = { media_ids: uploads.map(({ id }) => id) };
  return {
    ...REPLY_SETTINGS[readSettings(SETTINGS, settings).replySettings],
    ...(content === "" ? {} : { text: content }),
    ...(uploads.length === 0 ? {} : { media }),
  };
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
  return await createPost(baseUrl, publication, toBody(publication, uploads), guard);
}

function toSentPost(publication: Publication, handles: Handles): SentPost {
  return { publication, mediaKeys: listUploads(publication, handles).map(({ key }) => key) };
}

/**
 * X API v2 has no idempotency key; an unknown outcome is resolved by reading the account's own
 * timeline.
 */
export function createXPublishingConnector({ baseUrl, mayResend }: XSettings): PublishingConnector {
  return {
    platform: "x",
    maxResends: mayResend ? 1 : 0,
    steps: ({ media }) => media.flatMap((file, index) => toSteps(baseUrl, file, index)),
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
