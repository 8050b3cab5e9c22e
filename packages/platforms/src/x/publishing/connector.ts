import { type JsonObject, object } from "#src/http/platform-answer.ts";
import { jsonBody } from "#src/http/platform-request.ts";
import type { SendGuard } from "#src/http/send-once.ts";
import { refuseLongAltText } from "#src/publishing/alt-text.ts";
import { ask, type Caller, forAccounts, openAt, type Site } from "#src/publishing/caller.ts";
import type { PublishingConnector } from "#src/publishing/connector.ts";
import type { Handles } from "#src/publishing/handles.ts";
import {
  type DeletionOutcome,
  notPrepared,
  type Outcome,
  platformUnavailable,
} from "#src/publishing/outcome.ts";
import { fileAt, type Publication, type PublicationMedia } from "#src/publishing/publication.ts";
import { judgeMatchingPosts } from "#src/publishing/search.ts";
import type { PrepareStep, StepResult } from "#src/publishing/steps.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import type { SettingsOf } from "#src/settings/field.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { SETTINGS, x } from "#src/x/facts.ts";
import { createPost, toPermalink } from "./create-post.ts";
import { isMissing, toFailure, toLimit, toUploadFailure } from "./failures.ts";
import {
  hasMediaOf,
  isPublication,
  readTimeline,
  reconcile,
  type SentPost,
  type TimelineEntry,
} from "./reconcile.ts";
import { compareSent, linksToMedia } from "./timeline-text.ts";
import { categoryOf, readUpload, type Upload } from "./upload-calls.ts";
import { createUploadStep } from "./upload-step.ts";

/** X does not document the answer for a post that no longer exists. */
async function deletePost(x: Caller, id: string): Promise<DeletionOutcome> {
  const answer = await ask(x, { method: "DELETE", path: `2/tweets/${encodeURIComponent(id)}` });
  if (answer.kind === "no_answer") return { kind: "unknown", message: answer.message };
  const isDeleted = object(answer.json, "data")?.deleted === true;
  if (answer.status < 500 && (isDeleted || isMissing(answer))) return { kind: "deleted" };
  const message = `HTTP ${answer.status}`;
  if (answer.status === 429) return toLimit(answer, message);
  const failure = answer.json === undefined ? undefined : toFailure(answer);
  return failure ?? { kind: "unknown", message };
}

function matches({ publication }: SentPost, { mediaKeys, shown }: TimelineEntry): boolean {
  const { text, media } = publication;
  // X may list media on X to which the text links as the media of the post, so the number of files
  // may differ.
  const hasItsMedia = mediaKeys.length === media.length || linksToMedia(text);
  return hasItsMedia && shown.skeleton === compareSent(text).skeleton;
}

/** When it is not known whether the post was sent and which uploads it used. */
async function findMatchingPost(x: Caller, sent: SentPost, call: UnknownCall): Promise<Verdict> {
  const { publication } = sent;
  const timeline = await readTimeline(x, call);
  if ("kind" in timeline) return timeline;
  const posts = timeline.entries
    .filter(isPublication)
    .map((entry) => ({ entry, isProven: hasMediaOf(sent, entry) }))
    .filter(({ entry, isProven }) => isProven || matches(sent, entry))
    .map(({ entry: { id }, isProven }) => ({
      id,
      permalink: toPermalink(publication, id),
      isProven,
    }));
  return await judgeMatchingPosts(posts, publication, call);
}

function nameOf(index: number): string {
  return `altText${index}`;
}

/**
 * Whether X shows a description of the file. Source: POST media/metadata/create, "currently only
 * supported for images and GIFs".
 */
function isDescribed(media: PublicationMedia): boolean {
  return media.altText !== null && categoryOf(media) !== "tweet_video";
}

async function describe(
  caller: Caller,
  media: PublicationMedia,
  index: number,
  handles: Handles,
): Promise<StepResult> {
  const upload = readUpload(handles, index);
  if (upload === undefined) throw new Error(`the post has no uploaded file at index ${index}`);
  const refusal = refuseLongAltText(x.rules, media);
  if (refusal !== undefined) return refusal;
  const body = jsonBody({ id: upload.id, metadata: { alt_text: { text: media.altText } } });
  const answer = await ask(caller, { method: "POST", path: "2/media/metadata", body });
  if (answer.kind === "no_answer") return platformUnavailable(answer.message);
  const isDone = answer.status >= 200 && answer.status < 300;
  return isDone ? { [nameOf(index)]: upload.id } : toUploadFailure(answer);
}

function createAltTextStep(baseUrl: string, index: number): PrepareStep {
  return {
    name: `description ${index + 1}`,
    isDone: (handles) => {
      const describedId = handles[nameOf(index)];
      return describedId !== undefined && describedId === readUpload(handles, index)?.id;
    },
    run: (publication, handles, signal) => {
      const caller = { baseUrl, account: publication, signal };
      return describe(caller, fileAt(publication, index), index, handles);
    },
  };
}

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
  site: Site,
  publication: Publication,
  handles: Handles,
  guard: SendGuard,
): Promise<Outcome> {
  const uploads = listUploads(publication, handles);
  if (uploads.length < publication.media.length) return notPrepared("the media is not uploaded");
  return await createPost(site, toBody(publication, uploads), guard);
}

function toSentPost(publication: Publication, handles: Handles): SentPost {
  return { publication, mediaKeys: listUploads(publication, handles).map(({ key }) => key) };
}

/**
 * X API v2 has no idempotency key; an unknown outcome is resolved by reading the account's own
 * timeline.
 */
export function createXPublishingConnector({ baseUrl, mayResend }: XSettings): PublishingConnector {
  const open = openAt(baseUrl);
  return {
    platform: "x",
    maxResends: mayResend ? 1 : 0,
    steps: ({ media }) => media.flatMap((file, index) => toSteps(baseUrl, file, index)),
    publish: (publication, handles, guard) =>
      publish({ baseUrl, account: publication }, publication, handles, guard),
    comparableText: (text) => JSON.stringify(compareSent(text)),
    reconcile: (publication, handles, call, signal) =>
      reconcile(open(publication, signal), toSentPost(publication, handles), call),
    findMatchingPost: (publication, handles, call, signal) =>
      findMatchingPost(open(publication, signal), toSentPost(publication, handles), call),
    canDelete: true,
    ...forAccounts(open, { delete: deletePost }),
  };
}
