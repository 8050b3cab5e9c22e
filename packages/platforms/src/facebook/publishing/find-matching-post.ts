import type { GraphApi } from "#src/graph-api/graph-request.ts";
import type { Handles } from "#src/publishing/handles.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { listMatchingPosts, readPagePosts } from "./page-posts.ts";

/**
 * By the ids of its photos, its video or the prepared post, as far as they are known, else by its
 * text and its number of files.
 */
export async function findMatchingPost(
  api: GraphApi,
  { publication, handles }: { readonly publication: Publication; readonly handles: Handles },
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const read = await readPagePosts(api, publication, call, signal);
  if ("verdict" in read) return read.verdict;
  return await judgeMatchingPosts(
    listMatchingPosts(publication, handles, read.posts),
    publication,
    call,
  );
}
