import type { NoAnswer } from "#src/http/call-platform.ts";
import { list, number, type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import type { Caller } from "#src/publishing/caller.ts";
import type { Handles } from "#src/publishing/handles.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";
import { askTiktok, dataOf } from "./calls.ts";

type TiktokPostKind = "video" | "photo";

export function kindOf({ media }: Publication): TiktokPostKind {
  return media.some(({ kind }) => kind === "video") ? "video" : "photo";
}

export function toPermalink({ username }: AccountAccess, kind: string, postId: string): string {
  return `https://www.tiktok.com/@${username}/${kind}/${postId}`;
}

export function toDetailHandles(publishId: string, kind: TiktokPostKind): Handles {
  return { publishId, kind };
}

export interface PublishStatus {
  readonly kind: "status";
  readonly status: string;
  readonly failReason: string;
  readonly postId: string | null;
  readonly uploadedBytes: number | undefined;
}

export interface NoStatus {
  readonly kind: "no_status";
  readonly answer: PlatformAnswer | NoAnswer;
}

function toPostId(ids: readonly unknown[]): string | null {
  const [id] = ids;
  const isId = typeof id === "string" || Number.isSafeInteger(id);
  return isId && /^\d+$/.test(String(id)) ? String(id) : null;
}

/** One field name of the answer contains `publicaly`, as TikTok spells it. */
export async function fetchStatus(
  tiktok: Caller,
  publishId: string,
): Promise<PublishStatus | NoStatus> {
  const body = { publish_id: publishId };
  const answer = await askTiktok(tiktok, "post/publish/status/fetch/", body);
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
