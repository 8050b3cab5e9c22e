import { createHash } from "node:crypto";
import type { Post } from "#src/world/posts.ts";
import { TOP_LEVEL_DOMAINS } from "#src/x/top-level-domains.ts";

/**
 * A part of a tweet's text that X replaces with a t.co link. Offsets are UTF-16 units; the end is
 * exclusive.
 */
interface Link {
  readonly start: number;
  readonly end: number;
  readonly url: string;
}

const TOP_LEVEL = new Set(TOP_LEVEL_DOMAINS);
const MAX_TOP_LEVEL_LENGTH = 24;

const ACCENTED =
  "\\u00c0-\\u00d6\\u00d8-\\u00f6\\u00f8-\\u024f\\u0253-\\u02bb\\u0300-\\u036f\\u1e00-\\u1eff";
const DOMAIN =
  "[^!'#%&()*+,\\\\\\-./:;<=>?@\\[\\]^_{|}~$\\s\\u0085\\u180e\\ufffe\\uffff\\u202a-\\u202e\\u061c\\u200e\\u200f\\u2066-\\u2069]";
const LABEL = `${DOMAIN}(?:(?:[-_]|${DOMAIN})*${DOMAIN})?`;
const PATH_CHARACTER = `[a-z\\u0400-\\u04ff0-9!*';:=+,.$/%#\\[\\]\\-\\u2013_~@|&${ACCENTED}]`;
const PARENTHESES = `\\((?:${PATH_CHARACTER}+|${PATH_CHARACTER}*\\(${PATH_CHARACTER}+\\)${PATH_CHARACTER}*)\\)`;

const CANDIDATE = new RegExp(
  `([^A-Za-z0-9@＠$#＃\\ufffe\\ufeff\\uffff]|^)(https?://)?(${LABEL}(?:\\.${LABEL})+)`,
  "gi",
);
const ASCII_DOMAIN = new RegExp(`(?:[-a-z0-9${ACCENTED}]+\\.)+[^.]+$`, "i");
const PORT = /:[0-9]+/y;
const PATH = new RegExp(`/(?:${PATH_CHARACTER}|${PARENTHESES})*`, "iy");
const PATH_END = new RegExp(`(?:[+\\-a-z\\u0400-\\u04ff0-9=_#/${ACCENTED}]|\\))$`, "i");
const QUERY = /\?[a-z0-9!?*'@();:&=+$/%#[\]\-_.,~|]*[a-z0-9\-_&=#/]/iy;

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/**
 * 0 when there is none. The next character must not be a Latin letter, a digit, `@`, `+` or `-`.
 */
function topLevelLength(label: string, following: string): number {
  for (let length = Math.min(label.length, MAX_TOP_LEVEL_LENGTH); length > 1; length -= 1) {
    const next = label[length] ?? following;
    const name = label.slice(0, length).toLowerCase();
    if ((TOP_LEVEL.has(name) || /^xn--[-0-9a-z]+$/.test(name)) && !/[0-9a-zA-Z@+-]/.test(next))
      return length;
  }
  return 0;
}

function domainIn(host: string, following: string): string {
  const labels = host.split(".");
  for (let count = labels.length; count > 1; count -= 1) {
    const last = labels[count - 1] ?? "";
    const length = topLevelLength(last, count === labels.length ? following : ".");
    if (length > 0 && !(labels[count - 2] ?? "").includes("_"))
      return [...labels.slice(0, count - 1), last.slice(0, length)].join(".");
  }
  return "";
}

function suffixAt(text: string, at: number): string {
  const port = matchAt(PORT, text, at);
  let path = matchAt(PATH, text, at + port.length);
  while (path.length > 1 && !PATH_END.test(path)) path = path.slice(0, -1);
  return port + path + matchAt(QUERY, text, at + port.length + path.length);
}

function linkFrom(text: string, match: RegExpExecArray): Link | undefined {
  const [, before = "", protocol = "", host = ""] = match;
  const at = match.index + before.length;
  const hostAt = at + protocol.length;
  const domain = domainIn(host, text[hostAt + host.length] ?? "");
  if (domain === "") return undefined;
  const end = hostAt + domain.length + suffixAt(text, hostAt + domain.length).length;
  if (protocol !== "") return { start: at, end, url: text.slice(at, end) };
  // In a tweet, a host name without a protocol is a link only when it consists of Latin letters and
  // is not part of a longer word.
  const ascii = ASCII_DOMAIN.exec(domain)?.[0];
  if (ascii === undefined || /[-_./]/.test(before)) return undefined;
  const start = hostAt + domain.length - ascii.length;
  return { start, end, url: text.slice(start, end) };
}

/**
 * The links of a tweet's text, in order. A link starts with `http(s)://` or is a bare name with a
 * known top-level domain. The result differs from X's published parser only for two bare names
 * without a space between them, as in `example.com입니다example.org`.
 */
export function findLinks(text: string): Link[] {
  const links: Link[] = [];
  if (!text.includes(".")) return links;
  CANDIDATE.lastIndex = 0;
  for (let match = CANDIDATE.exec(text); match !== null; match = CANDIDATE.exec(text)) {
    const link = linkFrom(text, match);
    if (link !== undefined) links.push(link);
    CANDIDATE.lastIndex = link?.end ?? match.index + 1;
  }
  return links;
}

const LINK_WEIGHT = 23;
const EMOJI_WEIGHT = 2;

const EMOJI = /\p{RGI_Emoji}/gv;

/** All other code points have weight 2. */
const LIGHT_RANGES: readonly (readonly [number, number])[] = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
];

function weightOf(codePoint: number): number {
  return LIGHT_RANGES.some(([first, last]) => codePoint >= first && codePoint <= last) ? 1 : 2;
}

function plainLength(text: string): number {
  let emojis = 0;
  const rest = text.replaceAll(EMOJI, () => {
    emojis += 1;
    return "";
  });
  let length = emojis * EMOJI_WEIGHT;
  for (const character of rest) length += weightOf(character.codePointAt(0) ?? 0);
  return length;
}

/** An emoji sequence has weight 2 and a link weight 23. */
export function weightedLength(text: string): number {
  const normalized = text.normalize("NFC");
  let length = 0;
  let from = 0;
  for (const link of findLinks(normalized)) {
    length += plainLength(normalized.slice(from, link.start)) + LINK_WEIGHT;
    from = link.end;
  }
  return length + plainLength(normalized.slice(from));
}

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
