import { createHash } from "node:crypto";
import { findLinks } from "#src/x/links.ts";

/** A link in a tweet as readers of the API get it; offsets are code points of the rendered text, end exclusive. */
export interface UrlEntity {
  readonly start: number;
  readonly end: number;
  readonly url: string;
  readonly expanded_url: string;
  readonly display_url: string;
}

export interface RenderedText {
  readonly text: string;
  readonly urls: readonly UrlEntity[];
}

const SLUG_CHARACTERS = 10;
const DISPLAYED_CHARACTERS = 27;

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function codePoints(text: string): number {
  let count = 0;
  for (const _character of text) {
    count += 1;
  }
  return count;
}

/** The same tweet gets the same short links at every reading. */
function shortLink(tweetId: string, index: number): string {
  const digest = createHash("sha256").update(`${tweetId}:${index}`).digest("base64");
  return `https://t.co/${digest.replaceAll(/[^A-Za-z0-9]/g, "").slice(0, SLUG_CHARACTERS)}`;
}

function displayOf(url: string): string {
  const shown = url.replace(/^https?:\/\/(?:www\.)?/i, "");
  return shown.length > DISPLAYED_CHARACTERS
    ? `${shown.slice(0, DISPLAYED_CHARACTERS - 1)}…`
    : shown;
}

/** A sent text as the API returns it: NFC, ends trimmed, markup characters escaped and links replaced by t.co ones. */
export function renderText(tweetId: string, sent: string): RenderedText {
  const source = sent.normalize("NFC").trim();
  const urls: UrlEntity[] = [];
  let text = "";
  let from = 0;
  for (const [index, link] of findLinks(source).entries()) {
    text += escapeMarkup(source.slice(from, link.start));
    const url = shortLink(tweetId, index);
    const start = codePoints(text);
    const expanded = /^https?:\/\//i.test(link.url) ? link.url : `http://${link.url}`;
    const end = start + codePoints(url);
    urls.push({ start, end, url, expanded_url: expanded, display_url: displayOf(link.url) });
    text += url;
    from = link.end;
  }
  return { text: text + escapeMarkup(source.slice(from)), urls };
}
