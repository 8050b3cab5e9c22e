import type { NoAnswer } from "#src/http/http.ts";
import { list, text, type PlatformAnswer } from "#src/http/platform-answer.ts";
import { ask, dataOf, type TiktokAccess } from "./calls.ts";

/** Where TikTok is with a publication. */
export interface PublishStatus {
  readonly kind: "status";
  readonly status: string;
  readonly failReason: string;
  /** The id of the post, once it was given away. */
  readonly postId: string | null;
  /** Bytes of an uploaded film that TikTok has; undefined where it does not say. */
  readonly uploadedBytes: number | undefined;
}

/** TikTok did not say. */
export interface NoStatus {
  readonly kind: "no_status";
  readonly answer: PlatformAnswer | NoAnswer;
}

/** Ids are numbers of 64 bits, which have become texts where JavaScript cannot hold them. */
function toPostId(ids: readonly unknown[]): string | null {
  const [id] = ids;
  const isId = typeof id === "string" || Number.isSafeInteger(id);
  return isId && /^\d+$/.test(String(id)) ? String(id) : null;
}

/** `POST /v2/post/publish/status/fetch/` (platforms reference 4.1); the misspelt name is TikTok's. */
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
  const { uploaded_bytes: bytes } = data;
  return {
    kind: "status",
    status,
    failReason: text(data, "fail_reason") ?? "",
    postId: toPostId(list(data, "publicaly_available_post_id")),
    uploadedBytes: typeof bytes === "number" ? bytes : undefined,
  };
}
