import { callPlatform, type NoAnswer } from "#src/http/call-platform.ts";
import { object, type PlatformAnswer, shorten, text } from "#src/http/platform-answer.ts";
import { bytesBody } from "#src/http/platform-request.ts";
import type { Caller } from "#src/publishing/caller.ts";
import { mediaBytes } from "#src/publishing/media-bytes.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import type { PublicationMedia } from "#src/publishing/publication.ts";
import type { GraphCaller } from "./graph-request.ts";

export type UploadResult =
  | { readonly kind: "uploaded" }
  /** The caller should read how many bytes the platform has and continue from there. */
  | { readonly kind: "interrupted"; readonly message: string }
  /** The platform does not accept these bytes at this upload URL. */
  | { readonly kind: "rejected"; readonly message: string }
  | Extract<Failure, { kind: "token_refused" }>;

const OFFSET_ERRORS = new Set(["OffsetInvalidError", "PartialRequestError"]);

export function isUploadUrl({ uploadBaseUrl }: GraphCaller, url: string): boolean {
  return url.startsWith(`${uploadBaseUrl}/`) && URL.parse(url) !== null;
}

/**
 * Facebook keeps the bytes of an interrupted request. Throws the error of the media service when
 * the file cannot be read.
 */
export async function pushBytes(
  { account, signal }: Caller,
  url: string,
  media: PublicationMedia,
  offset: number,
): Promise<UploadResult> {
  const headers = {
    authorization: `OAuth ${account.accessToken}`,
    offset: String(offset),
    file_size: String(media.bytes),
  };
  const source = mediaBytes(media, { start: offset, length: media.bytes - offset });
  const body = bytesBody("application/octet-stream", source);
  return toResult(await callPlatform({ method: "POST", url, headers, body }, signal));
}

function toResult(answer: PlatformAnswer | NoAnswer): UploadResult {
  if (answer.kind === "no_answer") return { kind: "interrupted", message: answer.message };
  if (answer.status === 200 && answer.json?.success === true) return { kind: "uploaded" };
  const problem = object(answer.json, "debug_info");
  const message = shorten(text(problem, "message") ?? `HTTP ${answer.status}`);
  if (answer.status === 401) return { kind: "token_refused", message };
  return isTemporary(answer, problem)
    ? { kind: "interrupted", message }
    : { kind: "rejected", message };
}

function isTemporary({ status }: PlatformAnswer, problem: PlatformAnswer["json"]): boolean {
  if (problem === undefined || problem.retriable === true || status >= 500) return true;
  return OFFSET_ERRORS.has(text(problem, "type") ?? "");
}
