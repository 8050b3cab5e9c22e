import { createHash } from "node:crypto";
import type { Post } from "#src/world/posts.ts";
import { findLinks } from "#src/x/links.ts";

/**
 * A link in a tweet's text, as the X API returns it. Offsets are code points of the rendered text;
 * the end is exclusive.
 */
export interface UrlEntity {
  readonly start: number;
  readonly end: number;
  readonly url: string;
  readonly expanded_url: string;
  readonly display_url: string;
  readonly media_key?: string;
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
  for (const _character of text) count += 1;

  return count;
}

/** Depends only on the tweet and the link, so that every read returns the same URL. */
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

/** All media of a tweet have the same URL, but each file has its own entry among the links. */
function mediaLink({ id, media }: Rendered, text: string, index: number): RenderedText {
  const [first] = media;
  if (first === undefined) return { text, urls: [] };

  const url = shortLink(id, index);
  const before = text === "" ? "" : `${text} `;
  const start = codePoints(before);
  const place = first.kind === "image" ? "photo" : "video";
  const urls = media.map(({ key }) => ({
    start,
    end: start + codePoints(url),
    url,
    expanded_url: `https://x.com/i/status/${id}/${place}/1`,
    display_url: `pic.x.com/${url.slice(-SLUG_CHARACTERS)}`,
    ...(key === undefined ? {} : { media_key: key }),
  }));
  return { text: before + url, urls };
}

type Rendered = Pick<Post, "id" | "text" | "media">;

export function renderText(tweet: Rendered): RenderedText {
  const source = tweet.text.normalize("NFC").trim();
  const urls: UrlEntity[] = [];
  let text = "";
  let from = 0;
  for (const [index, link] of findLinks(source).entries()) {
    text += escapeMarkup(source.slice(from, link.start));
    const url = shortLink(tweet.id, index);
    const start = codePoints(text);
    const expanded = /^https?:\/\//i.test(link.url) ? link.url : `http://${link.url}`;
    const end = start + codePoints(url);
    urls.push({ start, end, url, expanded_url: expanded, display_url: displayOf(link.url) });
    text += url;
    from = link.end;
  }
  const shown = mediaLink(tweet, text + escapeMarkup(source.slice(from)), urls.length);
  return { text: shown.text, urls: [...urls, ...shown.urls] };
}
