import { nextLook } from "#src/publishing/look-schedule.ts";
import type { Publication } from "#src/publishing/publication.ts";
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

interface Entries {
  readonly all: readonly TimelineEntry[];
  readonly unowned: readonly TimelineEntry[];
}

function toPresent(publication: Publication, { id }: TimelineEntry): Verdict {
  return { kind: "present", externalId: id, permalink: toPermalink(publication, id) };
}

function cannotTell(message: string): Verdict {
  return { kind: "cannot_tell", message };
}

/**
 * A file is uploaded for one post only, so its media key identifies the post, whatever the text is,
 * even if that post is stored as another Postrider post by mistake: sending the publication again
 * would publish it twice.
 */
function judgeMedia(sent: SentPost, { all, unowned }: Entries): Verdict | undefined {
  const { publication, mediaKeys } = sent;
  if (mediaKeys.length < publication.media.length)
    return cannotTell("it is not known which media was sent");
  const same = all.find((entry) => hasMediaOf(sent, entry));
  if (same !== undefined) return toPresent(publication, same);
  const { skeleton } = compareSent(publication.text);
  const hasSameText = unowned.some(
    (entry) => entry.mediaKeys.length > 0 && entry.shown.skeleton === skeleton,
  );
  return hasSameText
    ? cannotTell("the timeline has a post with the same text and other media")
    : undefined;
}

/**
 * A post with media is another post, except when the text links to media on X, which X may list as
 * the post's own.
 */
function judgeText({ publication }: SentPost, { unowned }: Entries): Verdict | undefined {
  const sent = compareSent(publication.text);
  const sameText = unowned.filter((entry) => entry.shown.skeleton === sent.skeleton);
  const withoutMedia = sameText.filter((entry) => entry.mediaKeys.length === 0);
  const same = withoutMedia.find(({ shown }) => shown.urls.join("\n") === sent.urls.join("\n"));
  if (same !== undefined) return toPresent(publication, same);
  if (withoutMedia.length > 0)
    return cannotTell("the timeline has a post with the same text and other links");
  return sameText.length > 0 && linksToMedia(publication.text)
    ? cannotTell("the timeline has a post with the same text and media that may be linked media")
    : undefined;
}

/** A post that another Postrider post owns never matches by its text. */
export async function reconcile(
  baseUrl: string,
  sent: SentPost,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const { publication } = sent;
  const timeline = await readTimeline(baseUrl, publication, call, signal);
  if ("verdict" in timeline) return timeline.verdict;
  const all = timeline.entries.filter(isPublication);
  const owned = await call.isOwned(all.map((entry) => entry.id));
  const entries = { all, unowned: all.filter((entry) => !owned.has(entry.id)) };
  const judge = publication.media.length > 0 ? judgeMedia : judgeText;
  return judge(sent, entries) ?? nextLook(call) ?? { kind: "absent" };
}
