import { callPlatform, type NoAnswer } from "#src/http/http.ts";
import { object, shorten, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { bytesBody, mediaBytes } from "#src/http/request-body.ts";
import type { AccountAccess, Failure, PublicationMedia } from "#src/publishing/connector.ts";
import type { GraphApi } from "./graph-call.ts";

/** What pushing bytes came to. */
export type UploadResult =
  | { readonly kind: "uploaded" }
  /** Broken off or out of step: read how much the platform has and go on from there. */
  | { readonly kind: "interrupted"; readonly message: string }
  /** The platform will not take these bytes on this address. */
  | { readonly kind: "rejected"; readonly message: string }
  | Extract<Failure, { kind: "token_refused" }>;

const OUT_OF_STEP = new Set(["OffsetInvalidError", "PartialRequestError"]);

/** Whether an address that the platform gave us is where our token may go. */
export function isUploadAddress({ uploadBaseUrl }: GraphApi, url: string): boolean {
  return url.startsWith(`${uploadBaseUrl}/`) && URL.canParse(url);
}

/**
 * Pushes a file from `offset` to its end to an address of rupload.facebook.com (platforms reference 1.1 and 3.1). A
 * request that breaks off leaves there what it brought.
 *
 * @throws What the media's reading throws.
 */
export async function pushBytes(
  upload: {
    readonly url: string;
    readonly account: Pick<AccountAccess, "accessToken">;
    readonly media: PublicationMedia;
    readonly offset: number;
  },
  signal: AbortSignal,
): Promise<UploadResult> {
  const { url, account, media, offset } = upload;
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
  return isPassing(answer, problem)
    ? { kind: "interrupted", message }
    : { kind: "rejected", message };
}

/** Whether the same bytes may still be taken. */
function isPassing({ status }: PlatformAnswer, problem: PlatformAnswer["json"]): boolean {
  if (problem === undefined || problem.retriable === true || status >= 500) return true;
  return OUT_OF_STEP.has(text(problem, "type") ?? "");
}
