import { type PostSummary, PostriderError } from "@postrider/client";
import { api } from "../api/api.ts";
import { isPlanned } from "./move-post.ts";
import { readPost } from "./posts-api.ts";

/** The post is not the one that is shown: what is in it now would go out unread. */
export class ChangedMeanwhile extends Error {}

export function isChangedMeanwhile(error: unknown): boolean {
  const isRefused = error instanceof PostriderError && error.status === 412;
  return isRefused || error instanceof ChangedMeanwhile;
}

/**
 * Publishes a post as it is shown. A list knows no `ETag`, but when the post was changed last.
 *
 * @throws An error for which `isChangedMeanwhile` holds, if it is another version by now.
 */
export async function publishNow(shown: Pick<PostSummary, "id" | "updatedAt">): Promise<void> {
  const { post, etag } = await readPost(shown.id);
  if (isPlanned(post) && post.updatedAt !== shown.updatedAt) throw new ChangedMeanwhile();
  await api.publishPost(post.id, undefined, { ifMatch: etag });
}
