import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { listMatchingPosts, readPagePosts } from "./page-posts.ts";
import { photoIds } from "./post-steps.ts";

/**
 * A post with photos is recognized by the photo ids only, because the photos were uploaded for it
 * alone; a post without photos by its text.
 */
export async function reconcileDirect(
  api: GraphApi,
  { publication, handles }: { readonly publication: Publication; readonly handles: Handles },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const read = await readPagePosts(api, publication, call, signal);
  if ("verdict" in read) return read.verdict;
  const hasPhotos = photoIds(publication, handles).length > 0;
  const posts = listMatchingPosts(publication, handles, read.posts).filter(
    ({ isProven }) => isProven === true || !hasPhotos,
  );
  return await judgeMatchingPosts(posts, publication, call);
}
