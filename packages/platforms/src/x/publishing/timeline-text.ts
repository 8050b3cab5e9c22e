import { normalizeText } from "#src/text/normalize-text.ts";
import { findUrls } from "#src/text/urls.ts";

/** The text of a post on X, split for comparison into the text without the links and the URLs of the links. */
export interface ComparableText {
  /** The post's text in NFC with unescaped entities, folded white space and one placeholder in place of every URL. */
  readonly skeleton: string;
  /**
   * For each URL in the post's text: its host in lower case, its path and its query, without the scheme and without a
   * trailing slash.
   */
  readonly urls: readonly string[];
}

/**
 * A URL of a post in X's timeline. The post's text contains X's short link, and a separate field contains the real URL.
 */
export interface ShortLink {
  readonly url: string;
  readonly expandedUrl: string;
  /** Whether X's short link leads to media on X. X adds such a link to the text of every post with media. */
  readonly isMedia: boolean;
}

const MARK = "\uFFFC";
/** Matches a link to media on X, in the form that `normalizeUrl` returns. */
const MEDIA_URL = /^(?:[a-z]+\.)?(?:x|twitter)\.com\/[^?]*\/status\/\d+\/(?:photo|video)\//;

/**
 * Replaces the HTML entities in X's texts, also those that are escaped several times: X shows the text `&lt;` that a client
 * sent as `&amp;lt;`, and both become `<`.
 */
function unescapeEntities(text: string): string {
  return text
    .replaceAll(/&(?:amp;)*lt;/g, "<")
    .replaceAll(/&(?:amp;)*gt;/g, ">")
    .replaceAll(/&(?:amp;)+/g, "&");
}

/**
 * Normalizes a URL so that equivalent links have the same text: `https://Example.com/A?b=1#c` becomes
 * `example.com/A?b=1`.
 */
export function normalizeUrl(url: string): string {
  const rest = url.replace(/^https?:\/\//i, "").replace(/#.*$/s, "");
  const end = rest.search(/[/?]/);
  const host = (end === -1 ? rest : rest.slice(0, end)).toLowerCase();
  const tail = end === -1 ? "" : rest.slice(end);
  return `${host}${tail}`.replace(/\/(?=$|\?)/, "").replace(/\/$/, "");
}

function isMediaUrl(url: string): boolean {
  return MEDIA_URL.test(normalizeUrl(url));
}

function compare(
  text: string,
  ranges: readonly {
    readonly start: number;
    readonly end: number;
    readonly url: string | undefined;
  }[],
): ComparableText {
  let skeleton = "";
  let position = 0;
  const urls: string[] = [];
  for (const { start, end, url } of ranges) {
    skeleton += text.slice(position, start);
    if (url !== undefined) {
      skeleton += MARK;
      urls.push(normalizeUrl(url));
    }
    position = end;
  }
  return { skeleton: normalizeText(unescapeEntities(skeleton + text.slice(position))), urls };
}

/**
 * Converts the text that was sent to X to its comparable form. Links to media on X are left out, because X's timeline marks
 * them in the same way as the links to a post's own media, which X itself adds to the text.
 */
export function compareSent(text: string): ComparableText {
  const ranges = findUrls(text).map(({ start, end }) => {
    const url = text.slice(start, end);
    return { start, end, url: isMediaUrl(url) ? undefined : url };
  });
  return compare(text, ranges);
}

/** Whether the text contains a link to media on X. X may list this media as the post's own. */
export function linksToMedia(text: string): boolean {
  return findUrls(text).some(({ start, end }) => isMediaUrl(text.slice(start, end)));
}

/** Converts the text that X's timeline shows, with its short links, to its comparable form. */
export function compareShown(text: string, links: readonly ShortLink[]): ComparableText {
  const ranges: { start: number; end: number; url: string | undefined }[] = [];
  let from = 0;
  for (const link of links) {
    const start = text.indexOf(link.url, from);
    if (start === -1) continue;
    from = start + link.url.length;
    const isMedia = link.isMedia || isMediaUrl(link.expandedUrl);
    ranges.push({ start, end: from, url: isMedia ? undefined : link.expandedUrl });
  }
  return compare(text, ranges);
}
