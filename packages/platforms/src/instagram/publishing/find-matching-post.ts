import type { GraphApi } from "#src/graph-api/graph-request.ts";
import { repeatLook } from "#src/publishing/look-schedule.ts";
import { judgeMatchingPosts, searchStart } from "#src/publishing/matching-posts.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { listAccountMedia, listMatchingMedia } from "./account-media.ts";

/** Instagram's list of posts may be delayed, so it is read several times. */
export async function findMatchingPost(
  api: GraphApi,
  publication: Publication,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const entries = await listAccountMedia(api, publication, searchStart(call), signal);
  if (entries === undefined) return repeatLook(call);
  return await judgeMatchingPosts(listMatchingMedia(publication, entries), publication, call);
}
