import { findUrls } from "#src/text/urls.ts";

/**
 * A facet of a Bluesky text: a range that is a link, tag or mention. Offsets count UTF-8 bytes; the end is exclusive.
 */
export interface Facet {
  readonly index: { readonly byteStart: number; readonly byteEnd: number };
  readonly features: readonly Readonly<Record<string, string>>[];
}

/** A mention of a Bluesky handle (`@name`). The handle must be resolved to a DID before the mention becomes a facet. */
export interface Mention {
  readonly handle: string;
  readonly index: Facet["index"];
}

const TAG = /(?<=^|\s)[#＃](?!\uFE0F)((?:(?!\u20E2)[^\s\u00AD\u2060\u200A-\u200D])+)/gu;
const MENTION = /(?<=^|\s|\()@([a-zA-Z0-9](?:[a-zA-Z0-9-]*\.)+[a-zA-Z][a-zA-Z0-9-]*)\b/gu;
/** Maximum length of a tag in graphemes, as the lexicon of Bluesky defines it. */
const MAX_TAG_LENGTH = 64;

function toIndex(text: string, start: number, end: number): Facet["index"] {
  const byteStart = Buffer.byteLength(text.slice(0, start), "utf8");
  return { byteStart, byteEnd: byteStart + Buffer.byteLength(text.slice(start, end), "utf8") };
}

/** Finds the links in a Bluesky text; a bare domain links to its https address. */
function findLinks(text: string): readonly Facet[] {
  return findUrls(text).map(({ start, end }) => {
    const found = text.slice(start, end);
    const uri = /^https?:\/\//i.test(found) ? found : `https://${found}`;
    return {
      index: toIndex(text, start, end),
      features: [{ $type: "app.bsky.richtext.facet#link", uri }],
    };
  });
}

function findTags(text: string): readonly Facet[] {
  return [...text.matchAll(TAG)].flatMap((match) => {
    // The look-behind in this pattern for tags makes the time of the match linear: a match begins only at the start of
    // a run of punctuation.
    const tag = (match[1] ?? "").replace(/(?<!\p{P})\p{P}+$/u, "");
    if (tag === "" || tag.length > MAX_TAG_LENGTH || /^\d+$/.test(tag)) return [];
    const index = toIndex(text, match.index, match.index + 1 + tag.length);
    return [{ index, features: [{ $type: "app.bsky.richtext.facet#tag", tag }] }];
  });
}

export function findFirstLink(text: string): string | undefined {
  return findLinks(text)[0]?.features[0]?.uri;
}

/** Returns the mentions (`@handle`) in a Bluesky text, in order. */
export function findMentions(text: string): readonly Mention[] {
  return [...text.matchAll(MENTION)].map((match) => ({
    handle: match[1] ?? "",
    index: toIndex(text, match.index, match.index + match[0].length),
  }));
}

/**
 * Returns all facets (links, tags and mentions) of a Bluesky text, in order. A mention whose handle does not resolve to
 * a DID stays plain text, as in Bluesky's own clients.
 */
export function createFacets(
  text: string,
  didByHandle: ReadonlyMap<string, string>,
): readonly Facet[] {
  const mentions = findMentions(text).flatMap(({ handle, index }): Facet[] => {
    const did = didByHandle.get(handle);
    return did === undefined
      ? []
      : [{ index, features: [{ $type: "app.bsky.richtext.facet#mention", did }] }];
  });
  return [...findLinks(text), ...findTags(text), ...mentions].toSorted(
    (a, b) => a.index.byteStart - b.index.byteStart,
  );
}
