import { callPlatform, type NoAnswer, type PlatformRequest } from "#src/http/http.ts";
import { header, object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { bytesBody, jsonBody, mediaBytes } from "#src/http/request-body.ts";
import type { AccountAccess, MediaPart, Publication } from "#src/publishing/connector.ts";
import type { MadeVideo } from "./upload-state.ts";

/** "People & Blogs", the category that YouTube's own upload page proposes. */
const CATEGORY_ID = "22";
const PARTS = "snippet,status";

type Answer = Promise<PlatformAnswer | NoAnswer>;

function authorize(account: AccountAccess): { readonly authorization: string } {
  return { authorization: `Bearer ${account.accessToken}` };
}

/** The video resource, without its bytes. */
function toVideo({ title, text: description, tags, privacy }: Publication) {
  return {
    snippet: {
      title,
      description,
      ...(tags.length === 0 ? {} : { tags }),
      categoryId: CATEGORY_ID,
    },
    status: { privacyStatus: privacy ?? "public", selfDeclaredMadeForKids: false },
  };
}

/** Begins an upload session (platforms reference 5.1): nothing exists because of it. */
export function beginSession(
  baseUrl: string,
  publication: Publication,
  media: Publication["media"][number],
  signal: AbortSignal,
): Answer {
  const query = new URLSearchParams({
    uploadType: "resumable",
    part: PARTS,
    notifySubscribers: "true",
  });
  const url = `${baseUrl}/upload/youtube/v3/videos?${query.toString()}`;
  const headers = {
    ...authorize(publication),
    "x-upload-content-length": String(media.bytes),
    "x-upload-content-type": media.contentType,
  };
  return callPlatform(
    { method: "POST", url, headers, body: jsonBody(toVideo(publication)) },
    signal,
  );
}

/** The address of a session, from the answer that began it; undefined when it is none that a token may be sent to. */
export function sessionUriOf(answer: PlatformAnswer, baseUrl: string): string | undefined {
  const location = header(answer, "location") ?? "";
  if (!URL.canParse(location)) return undefined;
  const { protocol, origin } = new URL(location);
  return protocol === "https:" || origin === new URL(baseUrl).origin ? location : undefined;
}

/** The address is as good as a password, and so is the id in it. */
function secretsOf(uri: string): readonly string[] {
  return [uri, ...new URL(uri).searchParams.values()];
}

/** A stretch of the file to a session. */
export function toPut(account: AccountAccess, uri: string, part: MediaPart): PlatformRequest {
  const { media, start, length } = part;
  const range = `bytes ${start}-${start + length - 1}/${media.bytes}`;
  return {
    method: "PUT",
    url: uri,
    headers: { ...authorize(account), "content-range": range },
    body: bytesBody(media.contentType, mediaBytes(media, { start, length })),
    secrets: secretsOf(uri),
  };
}

/** Asks a session how much it has. */
export function askSession(
  account: AccountAccess,
  uri: string,
  totalBytes: number,
  signal: AbortSignal,
): Answer {
  const headers = { ...authorize(account), "content-range": `bytes */${totalBytes}` };
  return callPlatform({ method: "PUT", url: uri, headers, secrets: secretsOf(uri) }, signal);
}

/** What a session says of itself. */
export type SessionState =
  | { readonly kind: "complete"; readonly video: MadeVideo }
  | { readonly kind: "incomplete"; readonly stored: number }
  /** YouTube does not know the session any more. */
  | { readonly kind: "gone" };

function storedOf(answer: PlatformAnswer): number {
  const [, last] = /^bytes=0-(\d+)$/.exec(header(answer, "range") ?? "") ?? [];
  return last === undefined ? 0 : Number(last) + 1;
}

function videoOf({ json }: PlatformAnswer): MadeVideo | undefined {
  const id = text(json, "id");
  const privacy = text(object(json, "status"), "privacyStatus");
  return id === undefined ? undefined : { id, ...(privacy === undefined ? {} : { privacy }) };
}

/** Undefined when the answer says nothing about the session. */
export function toSessionState(answer: PlatformAnswer): SessionState | undefined {
  const video = videoOf(answer);
  switch (answer.status) {
    case 200:
    case 201:
      return video === undefined ? undefined : { kind: "complete", video };
    case 308:
      return { kind: "incomplete", stored: storedOf(answer) };
    case 404:
    case 410:
      return { kind: "gone" };
    default:
      return undefined;
  }
}
