import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { object, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { bearer, bytesBody } from "#src/http/platform-request.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { AccountAccess, PublicationMedia } from "#src/publishing/publication.ts";
import { hostOf, isForeign } from "./xrpc.ts";

/** The URL of the default host of Bluesky repositories, and the URL of Bluesky's video service. */
export interface BlueskyUrls {
  readonly baseUrl: string;
  readonly videoBaseUrl: string;
}

/** The parameters of every call to Bluesky's video service for one video. */
export interface VideoContext extends BlueskyUrls {
  readonly account: AccountAccess;
  readonly media: PublicationMedia;
  readonly signal: AbortSignal;
}

type Answer = Promise<PlatformAnswer | NoAnswer>;

/**
 * Lifetime in seconds of a token for Bluesky's video service, which needs the token until it has written the video to
 * the repository.
 */
const TOKEN_SECONDS = 1800;

/** Requests a token with which Bluesky's video service may write a file to the account's repository. */
export function askServiceToken({ baseUrl, account, signal }: VideoContext): Answer {
  const host = hostOf(baseUrl, account);
  const query = new URLSearchParams({
    aud: `did:web:${encodeURIComponent(new URL(host).host)}`,
    lxm: "com.atproto.repo.uploadBlob",
    exp: String(Math.floor(Date.now() / 1000) + TOKEN_SECONDS),
  });
  const url = `${host}/xrpc/com.atproto.server.getServiceAuth?${query.toString()}`;
  const headers = bearer(account.accessToken);
  return callPlatform({ method: "GET", url, headers, isForeign: isForeign(account) }, signal);
}

/** Sends the whole video to Bluesky's video service; sending the same bytes again returns the same job. */
export function sendVideo(context: VideoContext, token: string): Answer {
  const { videoBaseUrl, account, media, signal } = context;
  const query = new URLSearchParams({ did: account.externalId, name: `${media.id}.mp4` });
  const url = `${videoBaseUrl}/xrpc/app.bsky.video.uploadVideo?${query.toString()}`;
  const headers = bearer(token);
  const body = bytesBody(media.contentType, mediaBytes(media));
  return callPlatform({ method: "POST", url, headers, body }, signal);
}

/** Reads the state of a job of Bluesky's video service; this call needs no token. */
export function askJob({ videoBaseUrl, signal }: VideoContext, jobId: string): Answer {
  const query = new URLSearchParams({ jobId });
  const url = `${videoBaseUrl}/xrpc/app.bsky.video.getJobStatus?${query.toString()}`;
  return callPlatform({ method: "GET", url }, signal);
}

/**
 * A job of Bluesky's video service. An answer contains it in the field `jobStatus` or as the whole answer, even when
 * the answer has an error status.
 */
export interface Job {
  readonly id: string;
  readonly state: string;
  readonly blob: Readonly<Record<string, unknown>> | undefined;
  readonly failureCode: string;
  readonly message: string;
}

/** Returns the video job in an answer with any HTTP status; undefined when the answer contains no job. */
export function readJob(answer: PlatformAnswer | NoAnswer): Job | undefined {
  if (answer.kind === "no_answer") return undefined;
  const status = object(answer.json, "jobStatus") ?? answer.json;
  const id = text(status, "jobId");
  if (id === undefined) return undefined;
  return {
    id,
    state: text(status, "state") ?? "",
    blob: object(status, "blob"),
    failureCode: text(status, "failureCode") ?? "",
    message: text(status, "message") ?? text(status, "error") ?? "",
  };
}
