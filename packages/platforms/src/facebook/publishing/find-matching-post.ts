import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { listMatchingPosts, readPagePosts } from "./page-posts.ts";

/** Searches the Facebook Page's own posts for a post with the text and the number of files of the publication. */
export async function findMatchingPost(
  api: GraphApi,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const read = await readPagePosts(api, publication, call, signal);
  if ("verdict" in read) return read.verdict;
  return await judgeMatchingPosts(listMatchingPosts(publication, read.posts), publication, call);
}
