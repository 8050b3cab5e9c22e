import { nextLook } from "#src/publishing/look-schedule.ts";
import type { Publication } from "#src/publishing/publication.ts";
import type { UnknownCall, Verdict } from "#src/publishing/verdict.ts";
import { findUrls } from "#src/text/urls.ts";
import { compareSent } from "./timeline-text.ts";
import { readTimeline, toPermalink, type SentPost, type TimelineEntry } from "./timeline.ts";

function toPresent(publication: Publication, { id }: TimelineEntry): Verdict {
  return { kind: "present", externalId: id, permalink: toPermalink(publication, id) };
}

/**
 * Decides by the media keys (X's ids of uploaded files) whether a post in X's timeline is the published post. A file is
 * uploaded for one post only, so its media key identifies the post, whatever the text is.
 */
function judgeMedia(
  { publication, mediaKeys }: SentPost,
  entries: readonly TimelineEntry[],
): Verdict | undefined {
  if (mediaKeys.length < publication.media.length)
    return { kind: "cannot_tell", message: "it is not known which media was sent" };
  const same = entries.find((entry) => mediaKeys.some((key) => entry.mediaKeys.includes(key)));
  if (same !== undefined) return toPresent(publication, same);
  const sent = compareSent(publication.text, findUrls(publication.text));
  const hasSameText = entries.some(
    (entry) => entry.mediaKeys.length > 0 && entry.shown.skeleton === sent.skeleton,
  );
  return hasSameText
    ? { kind: "cannot_tell", message: "the timeline has a post with the same text and other media" }
    : undefined;
}

function judgeText(
  { publication }: SentPost,
  entries: readonly TimelineEntry[],
): Verdict | undefined {
  const sent = compareSent(publication.text, findUrls(publication.text));
  const sameText = entries.filter((entry) => entry.shown.skeleton === sent.skeleton);
  const same = sameText.find((entry) => entry.shown.urls.join("\n") === sent.urls.join("\n"));
  if (same !== undefined) return toPresent(publication, same);
  return sameText.length > 0
    ? { kind: "cannot_tell", message: "the timeline has a post with the same text and other links" }
    : undefined;
}

/**
 * Finds out whether a publishing call to X took effect, by searching the account's timeline for the post. A post that
 * another Postrider post owns never matches.
 */
export async function reconcile(
  baseUrl: string,
  sent: SentPost,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const { publication } = sent;
  const timeline = await readTimeline(baseUrl, publication, call, signal);
  if ("verdict" in timeline) return timeline.verdict;
  const owned = await call.isOwned(timeline.entries.map((entry) => entry.id));
  const entries = timeline.entries.filter((entry) => !owned.has(entry.id));
  const judge = publication.media.length > 0 ? judgeMedia : judgeText;
  return judge(sent, entries) ?? nextLook(call) ?? { kind: "absent" };
}
