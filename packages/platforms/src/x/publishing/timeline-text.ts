import { normalizeText } from "#src/text/normalize-text.ts";
import { findUrls } from "#src/text/urls.ts";

export interface ComparableText {
  /**
   * In NFC with unescaped entities, folded white space and one placeholder in place of every URL.
   */
  readonly skeleton: string;
  /** The host in lower case, the path and the query, without the scheme and a trailing slash. */
  readonly urls: readonly string[];
}

/**
 * A URL of a post in X's timeline. The post's text contains X's short link, and a separate field
 * contains the real URL.
 */
export interface ShortLink {
  readonly url: string;
  readonly expandedUrl: string;
  readonly isMedia: boolean;
}

const MARK = "\uFFFC";
const MEDIA_URL = /^(?:[a-z]+\.)?(?:x|twitter)\.com\/[^?]*\/status\/\d+\/(?:photo|video)\//;

/** X shows the text `&lt;` that a client sent as `&amp;lt;`; both become `<`. */
function unescapeEntities(text: string): string {
  return text
    .replaceAll(/&(?:amp;)*lt;/g, "<")
    .replaceAll(/&(?:amp;)*gt;/g, ">")
    .replaceAll(/&(?:amp;)+/g, "&");
}

/** `https://Example.com/A?b=1#c` becomes `example.com/A?b=1`. */
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

export function compareSent(text: string): ComparableText {
  const ranges = findUrls(text).map(({ start, end }) => {
    const url = text.slice(start, end);
    return { start, end, url: isMediaUrl(url) ? undefined : url };
  });
  return compare(text, ranges);
}

export function linksToMedia(text: string): boolean {
  return findUrls(text).some(({ start, end }) => isMediaUrl(text.slice(start, end)));
}

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
