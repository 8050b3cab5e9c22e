import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { listMatchingPosts, readPagePosts, toMatchingPost } from "./page-posts.ts";
import { photoIds } from "./post-steps.ts";

/**
 * Finds out whether a Facebook call created a post that is visible at once, by searching the Page's posts. A post with
 * photos is recognized by the photo ids, because the photos were uploaded for it alone; a post without photos is
 * recognized by its text.
 */
export async function reconcileDirect(
  api: GraphApi,
  { publication, handles }: { readonly publication: Publication; readonly handles: Handles },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const read = await readPagePosts(api, publication, call, signal);
  if ("verdict" in read) return read.verdict;
  const photos = photoIds(publication, handles);
  const ours = read.posts.find(({ files }) => photos.some((id) => files.includes(id)));
  if (ours !== undefined) {
    const { id, permalink } = toMatchingPost(ours, publication);
    return { kind: "present", externalId: id, permalink };
  }
  const posts = photos.length > 0 ? [] : listMatchingPosts(publication, read.posts);
  return await judgeMatchingPosts(posts, publication, call);
}
