import type { NoAnswer } from "#src/http/call-platform.ts";
import { type PlatformAnswer, text } from "#src/http/platform-answer.ts";
import { ask, type Caller } from "#src/publishing/caller.ts";
import type { Failure } from "#src/publishing/outcome.ts";
import { countText } from "#src/text/text.ts";
import { findWebLinks } from "#src/text/web-links.ts";
import { toResult } from "./xrpc.ts";

/** Offsets count UTF-8 bytes; the end is exclusive. */
interface Facet {
  readonly index: { readonly byteStart: number; readonly byteEnd: number };
  readonly features: readonly Readonly<Record<string, string>>[];
}

interface Mention {
  readonly handle: string;
  readonly start: number;
  readonly end: number;
}

interface Range {
  readonly start: number;
  readonly end: number;
  readonly feature: Readonly<Record<string, string>>;
}

// Tags and cashtags are those that Bluesky's own clients find. Source: atproto,
// `packages/api/src/rich-text`, 2026-08-20.
const TAG = /(?<=^|\s)[#＃](?!\uFE0F)([^\s\u20E2\u00AD\u2060\u200A-\u200D]+)/gu;
/** A tag contains a character that is neither a digit nor punctuation: `#1-2` is not a tag. */
const TAG_LETTER = /[^\d\p{P}]/u;
const CASHTAG = /(?<=^|\s|\()\$([A-Za-z][A-Za-z0-9]{0,4})(?=\s|$|[.,;:!?)"'\u2019])/gu;
const MENTION = /(?<=^|\s|\()@([a-zA-Z0-9](?:[a-zA-Z0-9-]*\.)+[a-zA-Z][a-zA-Z0-9-]*)\b/gu;
const MAX_TAG_LENGTH = 64;

const LINK = "app.bsky.richtext.facet#link";
const TAG_FEATURE = "app.bsky.richtext.facet#tag";

function findLinks(text: string): readonly Range[] {
  return findWebLinks(text).map(({ start, end, uri }) => ({
    start,
    end,
    feature: { $type: LINK, uri },
  }));
}

function findTags(text: string): readonly Range[] {
  return [...text.matchAll(TAG)].flatMap((match) => {
    // The look-behind in this pattern for tags makes the time of the match linear: a match begins
    // only at the start of a run of punctuation.
    const tag = (match[1] ?? "").replace(/(?<!\p{P})\p{P}+$/u, "");
    const isTag =
      TAG_LETTER.test(tag) && countText(tag, "graphemes", MAX_TAG_LENGTH) <= MAX_TAG_LENGTH;
    const end = match.index + 1 + tag.length;
    return isTag ? [{ start: match.index, end, feature: { $type: TAG_FEATURE, tag } }] : [];
  });
}

function findCashtags(text: string): readonly Range[] {
  return [...text.matchAll(CASHTAG)].map(({ index, 0: { length }, 1: symbol = "" }) => ({
    start: index,
    end: index + length,
    feature: { $type: TAG_FEATURE, tag: `$${symbol.toUpperCase()}` },
  }));
}

export function findFirstLink(text: string): string | undefined {
  return findWebLinks(text)[0]?.uri;
}

export function findMentions(text: string): readonly Mention[] {
  return [...text.matchAll(MENTION)].map((match) => ({
    handle: match[1] ?? "",
    start: match.index,
    end: match.index + match[0].length,
  }));
}

export function createFacets(
  text: string,
  didByHandle: ReadonlyMap<string, string>,
): readonly Facet[] {
  const mentions = findMentions(text).flatMap(({ handle, start, end }): Range[] => {
    const did = didByHandle.get(handle);
    const feature = { $type: "app.bsky.richtext.facet#mention", did: did ?? "" };
    return did === undefined ? [] : [{ start, end, feature }];
  });
  const ranges = [...findLinks(text), ...findTags(text), ...findCashtags(text), ...mentions];
  return toFacets(
    text,
    ranges.toSorted((a, b) => a.start - b.start),
  );
}

/**
 * Converts offsets to bytes. Each part of the text is measured once, whatever the number of ranges.
 */
function toFacets(text: string, ranges: readonly Range[]): Facet[] {
  let position = 0;
  let byte = 0;
  const bytes = new Map<number, number>();
  const offsets = ranges.flatMap(({ start, end }) => [start, end]);
  for (const offset of offsets.toSorted((a, b) => a - b)) {
    byte += Buffer.byteLength(text.slice(position, offset), "utf8");
    position = offset;
    bytes.set(offset, byte);
  }
  return ranges.map(({ start, end, feature }) => ({
    index: { byteStart: bytes.get(start) ?? 0, byteEnd: bytes.get(end) ?? 0 },
    features: [feature],
  }));
}

/** The server that answers may be the account owner's; DIDs of accounts are far shorter. */
const DID = /^did:[a-z]+:[a-zA-Z0-9._:%-]{1,256}$/;

/** Then no account has the handle. A limit or an error of the server says nothing about it. */
function isRefusal(answer: PlatformAnswer | NoAnswer): boolean {
  return (
    answer.kind === "answer" && answer.status >= 400 && answer.status < 500 && answer.status !== 429
  );
}

export async function resolveMentions(
  bluesky: Caller,
  content: string,
): Promise<ReadonlyMap<string, string> | Failure> {
  const dids = new Map<string, string>();
  for (const { handle } of findMentions(content)) {
    const path = "com.atproto.identity.resolveHandle";
    const answer = await ask(bluesky, { path, query: { handle }, isPublic: true });
    const result = toResult(answer);
    if (result.kind === "result") {
      const did = text(result.json, "did");
      if (did !== undefined && DID.test(did)) dids.set(handle, did);
    } else if (!isRefusal(answer)) return result.failure;
  }
  return dids;
}
