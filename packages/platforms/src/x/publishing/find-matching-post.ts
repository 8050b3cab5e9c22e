import { judgeMatchingPosts } from "#src/publishing/matching-posts.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { toPermalink } from "./create-post.ts";
import { compareSent, linksToMedia } from "./timeline-text.ts";
import {
  hasMediaOf,
  isPublication,
  readTimeline,
  type SentPost,
  type TimelineEntry,
} from "./timeline.ts";

function matches({ publication }: SentPost, { mediaKeys, shown }: TimelineEntry): boolean {
  const { text, media } = publication;
  // X may list media on X to which the text links as the media of the post, so the number of files
  // may differ.
  const hasItsMedia = mediaKeys.length === media.length || linksToMedia(text);
  return hasItsMedia && shown.skeleton === compareSent(text).skeleton;
}

/** When it is not known whether the post was sent and which uploads it used. */
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
    .filter(isPublication)
    .map((entry) => ({ entry, isProven: hasMediaOf(sent, entry) }))
    .filter(({ entry, isProven }) => isProven || matches(sent, entry))
    .map(({ entry: { id }, isProven }) => ({
      id,
      permalink: toPermalink(publication, id),
      isProven,
    }));
  return await judgeMatchingPosts(posts, publication, call);
}
