import { foldText } from "#src/publishing/matching-posts.ts";

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
  /** Whether the short link leads to the post's own media. X adds such a link to the text. */
  readonly isMedia: boolean;
}

const MARK = "\uFFFC";

function unescapeEntities(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

/**
 * Normalizes a URL so that equivalent links have the same text: `https://Example.com/A?b=1#c` becomes
 * `example.com/A?b=1`.
 */
export function normalizeUrl(url: string): string {
  const rest = url.replace(/^https?:\/\//i, "").replace(/#.*$/, "");
  const end = rest.search(/[/?]/);
  const host = (end === -1 ? rest : rest.slice(0, end)).toLowerCase();
  const tail = end === -1 ? "" : rest.slice(end);
  return `${host}${tail}`.replace(/\/(?=$|\?)/, "").replace(/\/$/, "");
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
  return { skeleton: foldText(unescapeEntities(skeleton + text.slice(position))), urls };
}

/** Converts the text that was sent to X, with the ranges of its URLs, to its comparable form. */
export function compareSent(
  text: string,
  urls: readonly { readonly start: number; readonly end: number }[],
): ComparableText {
  return compare(
    text,
    urls.map(({ start, end }) => ({ start, end, url: text.slice(start, end) })),
  );
}

/** Converts the text that X's timeline shows, with its short links, to its comparable form. */
export function compareShown(text: string, links: readonly ShortLink[]): ComparableText {
  const ranges: { start: number; end: number; url: string | undefined }[] = [];
  let from = 0;
  for (const link of links) {
    const start = text.indexOf(link.url, from);
    if (start === -1) continue;
    from = start + link.url.length;
    ranges.push({ start, end: from, url: link.isMedia ? undefined : link.expandedUrl });
  }
  return compare(text, ranges);
}
