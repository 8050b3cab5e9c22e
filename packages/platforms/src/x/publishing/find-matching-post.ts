import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { findUrls } from "#src/text/urls.ts";
import { compareSent } from "./timeline-text.ts";
import { readTimeline, toPermalink, type SentPost, type TimelineEntry } from "./timeline.ts";

/** Whether a post in X's timeline has one of the publication's uploaded files, or its text and its number of files. */
function matches({ publication, mediaKeys }: SentPost, entry: TimelineEntry): boolean {
  if (mediaKeys.some((key) => entry.mediaKeys.includes(key))) return true;
  if (entry.mediaKeys.length !== publication.media.length) return false;
  const sent = compareSent(publication.text, findUrls(publication.text));
  return entry.shown.skeleton === sent.skeleton;
}

/**
 * Searches X's timeline for the post of a publication when it is not known whether the post was sent and which uploads
 * it used.
 */
export async function findMatchingPost(
  baseUrl: string,
  sent: SentPost,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const { publication } = sent;
  const timeline = await readTimeline(baseUrl, publication, call, signal);
  if ("verdict" in timeline) return timeline.verdict;
  const posts = timeline.entries
    .filter((entry) => matches(sent, entry))
    .map(({ id }) => ({ id, permalink: toPermalink(publication, id) }));
  return await judgeMatchingPosts(posts, publication, call);
}
