import type { Handles } from "#src/publishing/handles.ts";
import type { AccountAccess, Publication } from "#src/publishing/publication.ts";

export type TiktokPostKind = "video" | "photo";

export function kindOf({ media }: Publication): TiktokPostKind {
  return media.some(({ kind }) => kind === "video") ? "video" : "photo";
}

export function toPermalink({ username }: AccountAccess, kind: string, postId: string): string {
  return `https://www.tiktok.com/@${username}/${kind}/${postId}`;
}

export function toDetailHandles(publishId: string, kind: TiktokPostKind): Handles {
  return { publishId, kind };
}
