import type { AccountAccess, Handles, Publication } from "#src/publishing/connector.ts";

export type PostKind = "video" | "photo";

export function kindOf({ media }: Publication): PostKind {
  return media.some(({ kind }) => kind === "video") ? "video" : "photo";
}

export function toPermalink({ username }: AccountAccess, kind: string, postId: string): string {
  return `https://www.tiktok.com/@${username}/${kind}/${postId}`;
}

/** What the id of a public post is asked for with. */
export function toQuestion(publishId: string, kind: PostKind): Handles {
  return { publishId, kind };
}
