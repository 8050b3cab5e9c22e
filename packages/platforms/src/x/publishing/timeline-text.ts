/** A text taken apart for comparison: what a reader sees between the links, and where the links lead. */
export interface ComparableText {
  /** NFC, entities unescaped, every URL replaced by one mark, white space folded. */
  readonly skeleton: string;
  /** Lower-case host, path and query of each URL, without scheme and without a slash at the end. */
  readonly urls: readonly string[];
}

/** A URL of a timeline entry: X shows its own short link in the text and the real address beside it. */
export interface ShortLink {
  readonly url: string;
  readonly expandedUrl: string;
  /** The link to the post's own media that X adds to the text; it was never ours. */
  readonly isMedia: boolean;
}

const MARK = "\uFFFC";

function unescapeEntities(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}

function fold(text: string): string {
  return text.normalize("NFC").replaceAll(/\s+/g, " ").trim();
}

/** `https://Example.com/A?b=1#c` and `example.com/A?b=1` lead to the same place. */
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
  return { skeleton: fold(unescapeEntities(skeleton + text.slice(position))), urls };
}

/** A text as we sent it, with the places of its URLs. */
export function compareSent(
  text: string,
  urls: readonly { readonly start: number; readonly end: number }[],
): ComparableText {
  return compare(
    text,
    urls.map(({ start, end }) => ({ start, end, url: text.slice(start, end) })),
  );
}

/** A text as the timeline shows it, with its short links. */
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
