import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { header, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, bytesBody, jsonBody, type PlatformRequest } from "#src/http/platform-request.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { jsonHandle } from "#src/publishing/handles.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type {
  AccountAccess,
  MediaPart,
  Publication,
  PublicationMedia,
} from "#src/publishing/publication.ts";
import { readSettings } from "#src/settings/read-settings.ts";
import { SETTINGS } from "#src/youtube/facts.ts";
import { toUploadedVideo, type UploadedVideo } from "./uploaded-video.ts";

export interface Upload {
  readonly uri: string;
  readonly startedAt: number;
  readonly stored: number;
  /** Once this is true, a video may exist on YouTube. */
  readonly isOffered: boolean;
  readonly video?: UploadedVideo;
}

export const UPLOAD = jsonHandle<Upload>("upload");

export function restOf(publication: Publication, upload: Upload): MediaPart | undefined {
  const [media] = publication.media;
  if (media === undefined) return undefined;
  return { media, start: upload.stored, length: media.bytes - upload.stored };
}

const PARTS = "snippet,status";

type Answer = Promise<PlatformAnswer | NoAnswer>;

const LICENSES = { youtube: "youtube", creative_commons: "creativeCommon" } as const;

function toVideo({ title, text: description, tags, privacy, settings }: Publication) {
  const { categoryId, madeForKids, license } = readSettings(SETTINGS, settings);
  return {
    snippet: {
      title,
      description,
      ...(tags.length === 0 ? {} : { tags }),
      categoryId,
    },
    status: {
      privacyStatus: privacy ?? "public",
      selfDeclaredMadeForKids: madeForKids,
      license: LICENSES[license],
    },
  };
}

export function beginSession(
  youtube: Caller,
  publication: Publication,
  media: PublicationMedia,
): Answer {
  const { notifySubscribers } = readSettings(SETTINGS, publication.settings);
  return ask(youtube, {
    method: "POST",
    path: "upload/youtube/v3/videos",
    query: {
      uploadType: "resumable",
      part: PARTS,
      notifySubscribers: String(notifySubscribers),
    },
    headers: {
      "x-upload-content-length": String(media.bytes),
      "x-upload-content-type": media.contentType,
    },
    body: jsonBody(toVideo(publication)),
  });
}

/** Undefined when the access token must not be sent to this URI. */
export function sessionUriOf(answer: PlatformAnswer, baseUrl: string): string | undefined {
  const location = header(answer, "location") ?? "";
  const parsed = URL.parse(location);
  const isTrusted = parsed?.protocol === "https:" || parsed?.origin === new URL(baseUrl).origin;
  return isTrusted ? location : undefined;
}

/** The URI and the id in it each authorize an upload. */
function secretsOf(uri: string): readonly string[] {
  return [uri, ...new URL(uri).searchParams.values()];
}

export function toPut(account: AccountAccess, uri: string, part: MediaPart): PlatformRequest {
  const { media, start, length } = part;
  const range = `bytes ${start}-${start + length - 1}/${media.bytes}`;
  return {
    method: "PUT",
    url: uri,
    headers: { ...bearer(account.accessToken), "content-range": range },
    body: bytesBody(media.contentType, mediaBytes(media, { start, length })),
    secrets: secretsOf(uri),
  };
}

export function askSession(
  account: AccountAccess,
  uri: string,
  totalBytes: number,
  signal: AbortSignal,
): Answer {
  const headers = { ...bearer(account.accessToken), "content-range": `bytes */${totalBytes}` };
  return callPlatform({ method: "PUT", url: uri, headers, secrets: secretsOf(uri) }, signal);
}

export type SessionState =
  | { readonly kind: "complete"; readonly video: UploadedVideo }
  | { readonly kind: "incomplete"; readonly stored: number }
  /** YouTube has all bytes and has not made the video yet: it may make it at any time. */
  | { readonly kind: "received" }
  | { readonly kind: "gone" };

function storedOf(answer: PlatformAnswer): number {
  const [, last] = /^bytes=0-(\d+)$/.exec(header(answer, "range") ?? "") ?? [];
  return last === undefined ? 0 : Number(last) + 1;
}

function toProgress(stored: number, totalBytes: number): SessionState {
  return stored < totalBytes ? { kind: "incomplete", stored } : { kind: "received" };
}

function videoOf({ json }: PlatformAnswer): UploadedVideo | undefined {
  const id = text(json, "id");
  return id === undefined ? undefined : toUploadedVideo(id, json);
}

export function toSessionState(
  answer: PlatformAnswer,
  totalBytes: number,
): SessionState | undefined {
  const video = videoOf(answer);
  switch (answer.status) {
    case 200:
    case 201:
      return video === undefined ? undefined : { kind: "complete", video };
    case 308:
      return toProgress(storedOf(answer), totalBytes);
    case 404:
    case 410:
      return { kind: "gone" };
    default:
      return undefined;
  }
}
