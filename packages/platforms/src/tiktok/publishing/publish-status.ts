import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, number, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { ask, dataOf, type TiktokAccess } from "./calls.ts";

/** The status of a publication as TikTok reports it. */
export interface PublishStatus {
  readonly kind: "status";
  readonly status: string;
  readonly failReason: string;
  /** The id of the TikTok post; null until TikTok assigns it. */
  readonly postId: string | null;
  /** Number of bytes of the video that TikTok has received; undefined when TikTok does not report it. */
  readonly uploadedBytes: number | undefined;
}

/** TikTok's answer when it does not contain the status of the post. */
export interface NoStatus {
  readonly kind: "no_status";
  readonly answer: PlatformAnswer | NoAnswer;
}

/**
 * Returns the post id in TikTok's status. Post ids are 64-bit integers; ids that JavaScript cannot represent exactly
 * were read as strings.
 */
function toPostId(ids: readonly unknown[]): string | null {
  const [id] = ids;
  const isId = typeof id === "string" || Number.isSafeInteger(id);
  return isId && /^\d+$/.test(String(id)) ? String(id) : null;
}

/**
 * Reads the status of a publication with `POST /v2/post/publish/status/fetch/` (platforms reference 4.1). One field
 * name of the answer contains `publicaly`, as TikTok spells it.
 */
export async function fetchStatus(
  access: TiktokAccess,
  publishId: string,
  signal: AbortSignal,
): Promise<PublishStatus | NoStatus> {
  const body = { publish_id: publishId };
  const answer = await ask(access, "post/publish/status/fetch/", body, signal);
  const data = dataOf(answer);
  const status = text(data, "status");
  if (data === undefined || status === undefined) return { kind: "no_status", answer };
  return {
    kind: "status",
    status,
    failReason: text(data, "fail_reason") ?? "",
    postId: toPostId(list(data, "publicaly_available_post_id")),
    uploadedBytes: number(data, "uploaded_bytes"),
  };
}
