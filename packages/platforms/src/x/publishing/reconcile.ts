import { list, object, text } from "#src/http/platform-answer.ts";
import type { Caller } from "#src/publishing/caller.ts";
import { nextLook, repeatLook } from "#src/publishing/look-schedule.ts";
import type { Publication } from "#src/publishing/publication.ts";
import { readWholeList, searchStart } from "#src/publishing/search.ts";
import { cannotTell, present, type UnknownCall, type Verdict } from "#src/publishing/verdict.ts";
import { noteOf, readPosts, referencedPosts } from "#src/x/read-posts.ts";
import { toPermalink } from "./create-post.ts";
import {
  type ComparableText,
  compareSent,
  compareShown,
  linksToMedia,
  type ShortLink,
} from "./timeline-text.ts";

const PAGE_SIZE = 100;
/**
 * Maximum number of pages that are read of a timeline: X shows at most 3,200 posts of a timeline.
 */
const MAX_PAGES = 32;

export interface SentPost {
  readonly publication: Publication;
  readonly mediaKeys: readonly string[];
}

export interface TimelineEntry {
  readonly id: string;
  readonly mediaKeys: readonly unknown[];
  readonly shown: ComparableText;
  readonly repliesTo: string | undefined;
}

function toShortLinks(entities: unknown): readonly ShortLink[] {
  return list(entities, "urls").map((url) => ({
    url: text(url, "url") ?? "",
    // In a link of a post on X, `expanded_url` is the URL as it was posted, and `unwound_url` the
    // target of its redirects; different posted URLs may have the same target.
    expandedUrl: text(url, "expanded_url") ?? text(url, "unwound_url") ?? "",
    isMedia: text(url, "media_key") !== undefined,
  }));
}

export function findParentId(tweet: unknown): string | undefined {
  const parent = referencedPosts(tweet).find((one) => text(one, "type") === "replied_to");
  return text(parent, "id");
}

function toEntry(tweet: unknown): TimelineEntry {
  const source = noteOf(tweet) ?? tweet;
  return {
    id: text(tweet, "id") ?? "",
    mediaKeys: list(object(tweet, "attachments"), "media_keys"),
    shown: compareShown(text(source, "text") ?? "", toShortLinks(object(source, "entities"))),
    repliesTo: findParentId(tweet),
  };
}

export function isPublication({ repliesTo }: TimelineEntry): boolean {
  return repliesTo === undefined;
}

export function hasMediaOf({ mediaKeys }: SentPost, entry: TimelineEntry): boolean {
  return mediaKeys.some((key) => entry.mediaKeys.includes(key));
}

export async function readTimeline(
  x: Caller,
  call: UnknownCall,
): Promise<{ readonly entries: readonly TimelineEntry[] } | Verdict> {
  const path = `2/users/${encodeURIComponent(x.account.externalId)}/tweets`;
  const query = {
    start_time: searchStart(call).toISOString(),
    max_results: String(PAGE_SIZE),
    "tweet.fields": "created_at,entities,attachments,note_tweet,referenced_tweets",
  };
  return await readWholeList(call, MAX_PAGES, async (after) => {
    const answer = await readPosts(x, { path, query: { ...query, pagination_token: after } });
    if (answer.kind === "no_answer") return repeatLook(call);
    if (answer.status === 401 || answer.status === 403)
      return cannotTell("X refuses to show the timeline");
    const meta = object(answer.json, "meta");
    const posts = list(answer.json, "data");
    // With errors and no post, the answer does not say that there are no posts.
    const isShown = posts.length > 0 || list(answer.json, "errors").length === 0;
    if (answer.status !== 200 || meta === undefined || !isShown) return repeatLook(call);
    return { entries: posts.map(toEntry), next: text(meta, "next_token") };
  });
}

interface Entries {
  readonly all: readonly TimelineEntry[];
  readonly unowned: readonly TimelineEntry[];
}

function toPresent(publication: Publication, { id }: TimelineEntry): Verdict {
  return present(id, toPermalink(publication, id));
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
export async function reconcile(x: Caller, sent: SentPost, call: UnknownCall): Promise<Verdict> {
  const { publication } = sent;
  const timeline = await readTimeline(x, call);
  if ("kind" in timeline) return timeline;
  const all = timeline.entries.filter(isPublication);
  const owned = await call.isOwned(all.map((entry) => entry.id));
  const entries = { all, unowned: all.filter((entry) => !owned.has(entry.id)) };
  const judge = publication.media.length > 0 ? judgeMedia : judgeText;
  return judge(sent, entries) ?? nextLook(call) ?? { kind: "absent" };
}
