import { callPlatform, type NoAnswer } from "#src/http/http.ts";
import { object, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { bytesBody, mediaBytes } from "#src/http/request-body.ts";
import type { AccountAccess, PublicationMedia } from "#src/publishing/connector.ts";
import { hostOf, isForeign } from "./xrpc.ts";

/** Where the account's repository answers by default, and the network's video service. */
export interface BlueskyUrls {
  readonly baseUrl: string;
  readonly videoBaseUrl: string;
}

/** What the calls about one film have in common. */
export interface VideoContext extends BlueskyUrls {
  readonly account: AccountAccess;
  readonly media: PublicationMedia;
  readonly signal: AbortSignal;
}

type Answer = Promise<PlatformAnswer | NoAnswer>;

/** For as long as the video service needs it to write the film to the repository. */
const TOKEN_SECONDS = 1800;

/** A token with which the video service may put a file into the account's repository. */
export function askServiceToken({ baseUrl, account, signal }: VideoContext): Answer {
  const host = hostOf(baseUrl, account);
  const query = new URLSearchParams({
    aud: `did:web:${encodeURIComponent(new URL(host).host)}`,
    lxm: "com.atproto.repo.uploadBlob",
    exp: String(Math.floor(Date.now() / 1000) + TOKEN_SECONDS),
  });
  const url = `${host}/xrpc/com.atproto.server.getServiceAuth?${query.toString()}`;
  const headers = { authorization: `Bearer ${account.accessToken}` };
  return callPlatform({ method: "GET", url, headers, isForeign: isForeign(account) }, signal);
}

/** The whole film; the same bytes again are the same job. */
export function sendVideo(context: VideoContext, token: string): Answer {
  const { videoBaseUrl, account, media, signal } = context;
  const query = new URLSearchParams({ did: account.externalId, name: `${media.id}.mp4` });
  const url = `${videoBaseUrl}/xrpc/app.bsky.video.uploadVideo?${query.toString()}`;
  const headers = { authorization: `Bearer ${token}` };
  const body = bytesBody(media.contentType, mediaBytes(media));
  return callPlatform({ method: "POST", url, headers, body }, signal);
}

/** Anybody may ask who knows the job. */
export function askJob({ videoBaseUrl, signal }: VideoContext, jobId: string): Answer {
  const query = new URLSearchParams({ jobId });
  const url = `${videoBaseUrl}/xrpc/app.bsky.video.getJobStatus?${query.toString()}`;
  return callPlatform({ method: "GET", url }, signal);
}

/** A job as the service tells of it: below `jobStatus`, or as the answer itself, also when it calls that an error. */
export interface Job {
  readonly id: string;
  readonly state: string;
  readonly blob: Readonly<Record<string, unknown>> | undefined;
  readonly failureCode: string;
  readonly message: string;
}

/** The job that an answer is about, whatever its status; undefined when it is about none. */
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
