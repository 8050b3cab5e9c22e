import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import {
  type JsonObject,
  number,
  object,
  type PlatformAnswer,
  text,
} from "#src/http/platform-answer.ts";
import { bearer, bytesBody, type RequestBody } from "#src/http/platform-request.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import { type Handles, type JsonHandle, jsonHandle } from "#src/publishing/handles.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { AccountAccess, PublicationMedia } from "#src/publishing/publication.ts";
import { hostOf, openBluesky } from "./xrpc.ts";

interface StoredBlob {
  readonly blob: unknown;
  readonly uploadedAt: number;
}

/**
 * Maximum age in milliseconds of an uploaded file (blob) that a new record may reference. A Bluesky
 * server deletes a blob that no record references after some time, "eg, minutes" (lexicon of
 * uploadBlob, 2026-08-20). Uploading the file again is harmless, because the same bytes result in
 * the same blob.
 */
const MAX_AGE_MS = 20 * 60_000;

type BlobPlace = number | "card";

const PREFIX = "blob";

function handleOf(place: BlobPlace): JsonHandle<StoredBlob> {
  return jsonHandle(`${PREFIX}${place}`);
}

export function toBlobHandle(place: BlobPlace, blob: unknown, uploadedAt: number): Handles {
  return handleOf(place).write({ blob, uploadedAt });
}

export function readBlob(handles: Handles, index: number): unknown {
  return handleOf(index).read(handles)?.blob;
}

export function isFresh(handles: Handles, place: BlobPlace, now: number): boolean {
  const stored = handleOf(place).read(handles);
  return stored !== undefined && Math.abs(now - stored.uploadedAt) < MAX_AGE_MS;
}

/** So that the files are uploaded again, because the server has deleted one of them. */
export function forgetBlobs(handles: Handles): Handles {
  return Object.fromEntries(
    Object.entries(handles).flatMap(([name, text]) => {
      if (!name.startsWith(PREFIX)) return [];
      const { blob } = JSON.parse(text) as StoredBlob;
      return Object.entries(jsonHandle<StoredBlob>(name).write({ blob, uploadedAt: 0 }));
    }),
  );
}

const MAX_BLOB_TEXT = 128;

/**
 * Reads the reference to an uploaded file, of which only these fields are stored: the server may be
 * the account owner's and answer with an object of any size.
 */
export function toBlob(answer: unknown): JsonObject | undefined {
  const blob = object(answer, "blob");
  const link = text(object(blob, "ref"), "$link");
  const mimeType = text(blob, "mimeType");
  const size = number(blob, "size");
  if (link === undefined || mimeType === undefined || size === undefined) return undefined;
  if (link.length > MAX_BLOB_TEXT || mimeType.length > MAX_BLOB_TEXT) return undefined;
  return { $type: "blob", ref: { $link: link }, mimeType, size };
}

/** `blob` is undefined when Bluesky did not take the file. */
export async function uploadBlob(
  bluesky: Caller,
  body: RequestBody,
): Promise<{ readonly blob: JsonObject | undefined; readonly answer: PlatformAnswer | NoAnswer }> {
  const path = "com.atproto.repo.uploadBlob";
  const answer = await ask(bluesky, { method: "POST", path, body });
  const isDone = answer.kind === "answer" && answer.status === 200;
  return { blob: isDone ? toBlob(answer.json) : undefined, answer };
}

export interface BlueskyUrls {
  readonly baseUrl: string;
  readonly videoBaseUrl: string;
}

export interface VideoContext extends BlueskyUrls {
  readonly account: AccountAccess;
  readonly media: PublicationMedia;
  readonly signal: AbortSignal;
}

type Answer = Promise<PlatformAnswer | NoAnswer>;

/** The service needs the token until it has written the video to the repository. */
const TOKEN_SECONDS = 1800;

export function askServiceToken({ baseUrl, account, signal }: VideoContext): Answer {
  const { host } = new URL(hostOf(baseUrl, account));
  const query = {
    aud: `did:web:${encodeURIComponent(host)}`,
    lxm: "com.atproto.repo.uploadBlob",
    exp: String(Math.floor(Date.now() / 1000) + TOKEN_SECONDS),
  };
  const path = "com.atproto.server.getServiceAuth";
  return ask(openBluesky(baseUrl)(account, signal), { path, query });
}

export function sendVideo(context: VideoContext, token: string): Answer {
  const { videoBaseUrl, account, media, signal } = context;
  const query = new URLSearchParams({ did: account.externalId, name: `${media.id}.mp4` });
  const url = `${videoBaseUrl}/xrpc/app.bsky.video.uploadVideo?${query.toString()}`;
  const headers = bearer(token);
  const body = bytesBody(media.contentType, mediaBytes(media));
  return callPlatform({ method: "POST", url, headers, body }, signal);
}

export function askJob({ videoBaseUrl, signal }: VideoContext, jobId: string): Answer {
  const query = new URLSearchParams({ jobId });
  const url = `${videoBaseUrl}/xrpc/app.bsky.video.getJobStatus?${query.toString()}`;
  return callPlatform({ method: "GET", url }, signal);
}

/** In the field `jobStatus` or as the whole answer, even with an error status. */
export interface Job {
  readonly id: string;
  readonly state: string;
  readonly blob: JsonObject | undefined;
  readonly failureCode: string;
  readonly message: string;
}

export function readJob(answer: PlatformAnswer | NoAnswer): Job | undefined {
  if (answer.kind === "no_answer") return undefined;
  const status = object(answer.json, "jobStatus") ?? answer.json;
  const id = text(status, "jobId");
  if (id === undefined) return undefined;
  return {
    id,
    state: text(status, "state") ?? "",
    blob: toBlob(status),
    failureCode: text(status, "failureCode") ?? "",
    message: text(status, "message") ?? text(status, "error") ?? "",
  };
}
