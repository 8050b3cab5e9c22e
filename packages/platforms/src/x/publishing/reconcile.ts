import { callPlatform } from "#src/http/http.ts";
import { list, object, text } from "#src/http/platform-answer.ts";
import type { Publication, UnknownCall, Verdict } from "#src/publishing/connector.ts";
import { judgeTwins, lookAgain, LOOKS_AFTER_MS } from "#src/publishing/twins.ts";
import { findUrls } from "#src/text/urls.ts";
import { compareSent, compareShown, type ComparableText, type ShortLink } from "./timeline-text.ts";

/** Clock differences between us and the platform. */
const BEFORE_CALL_MS = 60_000;
const PAGE_SIZE = 100;
/** 3,200 posts are all that X shows of a timeline. */
const MAX_PAGES = 32;

/** What was sent: the post, and the keys under which X shows its media. */
export interface Sent {
  readonly publication: Publication;
  readonly mediaKeys: readonly string[];
}

interface Entry {
  readonly id: string;
  readonly mediaKeys: readonly unknown[];
  readonly shown: ComparableText;
}

function toShortLinks(entities: unknown): readonly ShortLink[] {
  return list(entities, "urls").map((url) => ({
    url: text(url, "url") ?? "",
    expandedUrl: text(url, "unwound_url") ?? text(url, "expanded_url") ?? "",
    isMedia: text(url, "media_key") !== undefined,
  }));
}

/** Long posts carry their whole text, and its links, in `note_tweet`. */
function toEntry(tweet: unknown): Entry {
  const note = object(tweet, "note_tweet");
  const source = note ?? tweet;
  return {
    id: text(tweet, "id") ?? "",
    mediaKeys: list(object(tweet, "attachments"), "media_keys"),
    shown: compareShown(text(source, "text") ?? "", toShortLinks(object(source, "entities"))),
  };
}

type Timeline =
  | { readonly entries: readonly Entry[] }
  | { readonly failure: "refused" | "incomplete" };

/** The account's own posts since just before the call, all pages. Anything short of that proves nothing. */
async function readTimeline(
  baseUrl: string,
  publication: Publication,
  since: Date,
  signal: AbortSignal,
): Promise<Timeline> {
  const entries: Entry[] = [];
  let token: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const query = new URLSearchParams({
      start_time: since.toISOString(),
      max_results: String(PAGE_SIZE),
      "tweet.fields": "created_at,entities,attachments,note_tweet",
    });
    if (token !== undefined) query.set("pagination_token", token);
    const url = `${baseUrl}/2/users/${encodeURIComponent(publication.externalId)}/tweets?${query.toString()}`;
    const answer = await callPlatform(
      { method: "GET", url, headers: { authorization: `Bearer ${publication.accessToken}` } },
      signal,
    );
    if (answer.kind === "no_answer") return { failure: "incomplete" };
    if (answer.status === 401 || answer.status === 403) return { failure: "refused" };
    if (answer.status !== 200 || object(answer.json, "meta") === undefined)
      return { failure: "incomplete" };
    entries.push(...list(answer.json, "data").map(toEntry));
    token = text(object(answer.json, "meta"), "next_token");
    if (token === undefined) return { entries };
  }
  return { failure: "incomplete" };
}

const UNREADABLE: Verdict = { kind: "cannot_tell", message: "the timeline cannot be read" };

function toPermalink({ username }: Publication, { id }: Entry): string {
  return `https://x.com/${username}/status/${id}`;
}

function toPresent(publication: Publication, entry: Entry): Verdict {
  const permalink = toPermalink(publication, entry);
  return { kind: "present", externalId: entry.id, permalink };
}

/** Media was uploaded for this post alone, so its key decides, whatever the text is. */
function judgeMedia(
  { publication, mediaKeys }: Sent,
  entries: readonly Entry[],
): Verdict | undefined {
  if (mediaKeys.length < publication.media.length)
    return { kind: "cannot_tell", message: "it is not known which media was sent" };
  const same = entries.find((entry) => mediaKeys.some((key) => entry.mediaKeys.includes(key)));
  if (same !== undefined) return toPresent(publication, same);
  const sent = compareSent(publication.text, findUrls(publication.text));
  const isTwin = entries.some(
    (entry) => entry.mediaKeys.length > 0 && entry.shown.skeleton === sent.skeleton,
  );
  return isTwin
    ? { kind: "cannot_tell", message: "a post with the same text but other media is there" }
    : undefined;
}

function judgeText({ publication }: Sent, entries: readonly Entry[]): Verdict | undefined {
  const sent = compareSent(publication.text, findUrls(publication.text));
  const sameText = entries.filter((entry) => entry.shown.skeleton === sent.skeleton);
  const same = sameText.find((entry) => entry.shown.urls.join("\n") === sent.urls.join("\n"));
  if (same !== undefined) return toPresent(publication, same);
  if (sameText.length > 0)
    return { kind: "cannot_tell", message: "a post with the same text but other links is there" };
  return undefined;
}

/** Looks for the post on the account's own timeline; ids that any target owns are never taken for it. */
export async function reconcileByTimeline(
  baseUrl: string,
  sent: Sent,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const { publication } = sent;
  const timeline = await readTimeline(
    baseUrl,
    publication,
    new Date(call.calledAt.getTime() - BEFORE_CALL_MS),
    signal,
  );
  if ("failure" in timeline) {
    return timeline.failure === "refused" ? UNREADABLE : lookAgain(call);
  }
  const owned = await call.isOwned(timeline.entries.map((entry) => entry.id));
  const entries = timeline.entries.filter((entry) => !owned.has(entry.id));
  const judge = publication.media.length > 0 ? judgeMedia : judgeText;
  const verdict = judge(sent, entries);
  if (verdict !== undefined) return verdict;
  return nextLook(call);
}

/** Whatever may be the post on the timeline: its media, or its words and as many files. */
function isTwin({ publication, mediaKeys }: Sent, { mediaKeys: shownKeys, shown }: Entry): boolean {
  if (mediaKeys.some((key) => shownKeys.includes(key))) return true;
  const sent = compareSent(publication.text, findUrls(publication.text));
  return shownKeys.length === publication.media.length && shown.skeleton === sent.skeleton;
}

/** Looks for a post of which it is not known whether, and with which uploads, it was sent. */
export async function findTwinTweet(
  baseUrl: string,
  sent: Sent,
  call: UnknownCall,
  signal: AbortSignal,
): Promise<Verdict> {
  const { publication } = sent;
  const since = new Date(call.calledAt.getTime() - BEFORE_CALL_MS);
  const timeline = await readTimeline(baseUrl, publication, since, signal);
  if ("failure" in timeline) return timeline.failure === "refused" ? UNREADABLE : lookAgain(call);
  const twins = timeline.entries
    .filter((entry) => isTwin(sent, entry))
    .map((entry) => ({ id: entry.id, permalink: toPermalink(publication, entry) }));
  return await judgeTwins(twins, publication, call, LOOKS_AFTER_MS);
}

/** The first look comes at once, because most lost answers are there; only the ones at the set times prove absence. */
function nextLook(call: UnknownCall): Verdict {
  const sinceMs = call.now.getTime() - call.callUntil.getTime();
  const next =
    LOOKS_AFTER_MS.map((afterMs) => afterMs * call.timeScale)[
      Math.min(call.looks, LOOKS_AFTER_MS.length - 1)
    ] ?? 0;
  if (call.looks >= LOOKS_AFTER_MS.length && sinceMs >= next) return { kind: "absent" };
  return { kind: "look_again", afterMs: Math.max(10, next - sinceMs) };
}
