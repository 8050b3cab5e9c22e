import { domainToASCII } from "node:url";
import {
  domainsIn,
  LATIN_ACCENTS,
  latinDomains,
  mayBegin,
  nextRun,
  type TextRange,
} from "./domains.ts";

// The grammar for the paths and queries of URLs is that of twitter-text 3.1.
const LETTERS = `a-z\\u0400-\\u04FF0-9${LATIN_ACCENTS}`;
const PATH = new RegExp(`[${LETTERS}!*';:=+,.$/%#\\[\\]\\-\\u2013_~@|&]*`, "iy");
const PATH_END = new RegExp(`[${LETTERS}+\\-=_#/]`, "i");
const QUERY = /[a-z0-9!?*'@();:&=+$/%#[\]\-_.,~|]*/iy;
const QUERY_END = /[a-z0-9\-_&=#/]/i;
const PORT = /(?::[0-9]+)?/y;

interface UrlTail {
  readonly pathStart: number;
  readonly pathEnd: number;
  readonly end: number;
}

/** Each character is read a fixed number of times, so the run time is linear. */
export function endOfTail(text: string, from: number): UrlTail {
  const pathStart = text.charAt(from) === ":" ? endOfMatch(PORT, text, from) : from;
  const pathEnd = endOfPath(text, pathStart);
  return { pathStart, pathEnd, end: endOfQuery(text, pathEnd) };
}

function endOfQuery(text: string, from: number): number {
  if (text.charAt(from) !== "?") return from;
  const end = endOfLast(QUERY_END, text, {
    start: from + 1,
    end: endOfMatch(QUERY, text, from + 1),
  });
  return end ?? from;
}

/**
 * Returns the end of the path that begins at `from`; `from` if no path begins there. A path ends
 * after its last character that may end it. Parentheses belong to the path if a later character of
 * the path does, or if they follow directly after its end.
 */
function endOfPath(text: string, from: number): number {
  if (text.charAt(from) !== "/") return from;
  let end = from + 1;
  for (let at: number | undefined = end; at !== undefined;) {
    const start: number = at;
    const stop = endOfMatch(PATH, text, start);
    end = endOfLast(PATH_END, text, { start, end: stop }) ?? end;
    at = endOfParentheses(text, stop);
    if (at !== undefined && end === stop) end = at;
  }
  return end;
}

/**
 * Returns the end of parentheses that begin at `from` and contain at least one character of a path,
 * or such parentheses once more; undefined if no such parentheses begin there.
 */
function endOfParentheses(text: string, from: number): number | undefined {
  const start = from + 1;
  if (text.charAt(from) !== "(") return undefined;
  const stop = endOfMatch(PATH, text, start);
  if (text.charAt(stop) === ")") return stop > start ? stop + 1 : undefined;
  if (text.charAt(stop) !== "(") return undefined;
  const inner = endOfMatch(PATH, text, stop + 1);
  if (inner === stop + 1 || text.charAt(inner) !== ")") return undefined;
  const last = endOfMatch(PATH, text, inner + 1);
  return text.charAt(last) === ")" ? last + 1 : undefined;
}

function endOfMatch(pattern: RegExp, text: string, from: number): number {
  pattern.lastIndex = from;
  pattern.test(text);
  return pattern.lastIndex;
}

function endOfLast(
  pattern: RegExp,
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
): number | undefined {
  for (let last = end; last > start; last -= 1)
    if (pattern.test(text.charAt(last - 1))) return last;
  return undefined;
}

const SHORT_LINK = /^https?:\/\/t\.co\/([a-z0-9]+)/i;
const PROTOCOL = /https?:\/\/$/i;

const LONGEST_PROTOCOL = "https://".length;
/** Maximum length of a URL; X does not take a longer one for a URL. */
export const MAX_URL_LENGTH = 4096;
const MAX_LABEL_LENGTH = 63;
const MAX_SHORT_LINK_SLUG = 40;
const PLAIN_NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/i;
/**
 * A label of as many UTF-16 units has at most 52 characters in Punycode, "xn--" and 6 for each
 * unit, if none of its characters is replaced by several.
 */
const MAX_SHORT_LABEL = 8;

/**
 * Finds the URLs in a text as X defines them, in order and without overlaps: URLs with http(s), and
 * bare domains such as `example.com` that end in a known top-level domain. The run time is linear
 * in the length of the text.
 *
 * Source: the grammar of twitter-text 3.1; the top-level domains are IANA's list as the package
 * `tlds` carries it.
 */
export function findUrls(text: string): TextRange[] {
  return [...urlsIn(text)];
}

/** The text after the last URL that the caller takes is not read. */
export function* urlsIn(text: string): Generator<TextRange> {
  if (!text.includes(".")) return;
  let consumed = 0;
  let dot = 0;
  for (let run = nextRun(text, 0); run !== undefined; run = nextRun(text, run.end)) {
    if (dot < run.start) dot = text.indexOf(".", run.start);
    if (dot === -1) return;
    // A domain name contains a dot, and most words do not.
    if (dot >= run.end || run.end <= consumed) continue;
    for (const domain of domainsIn(text, run, consumed)) {
      const candidate = readCandidate(text, domain, consumed);
      consumed = candidate.end;
      if (isPlausible(candidate)) yield* toUrls(text, candidate);
    }
  }
}

interface Candidate extends TextRange {
  readonly domain: TextRange;
  readonly name: string;
  /** Whether the name consists of ordinary letters, digits and hyphens, as most names do. */
  readonly isPlain: boolean;
  readonly hasProtocol: boolean;
  readonly hasPath: boolean;
}

function readCandidate(text: string, domain: TextRange, consumed: number): Candidate {
  const { pathStart, pathEnd, end } = endOfTail(text, domain.end);
  const name = text.slice(domain.start, domain.end);
  const protocol =
    text.charAt(domain.start - 1) === "/"
      ? PROTOCOL.exec(text.slice(Math.max(consumed, domain.start - LONGEST_PROTOCOL), domain.start))
      : null;
  const start = domain.start - (protocol?.[0].length ?? 0);
  const hasProtocol = protocol !== null && mayBegin(text, start, consumed);
  return {
    start: hasProtocol ? start : domain.start,
    end,
    domain,
    name,
    isPlain: PLAIN_NAME.test(name) && !name.startsWith("xn--"),
    hasProtocol,
    hasPath: pathEnd > pathStart,
  };
}

function isPlausible({ start, end, domain, name, isPlain, hasProtocol }: Candidate): boolean {
  const length = end - start + (hasProtocol ? domain.start - start : LONGEST_PROTOCOL);
  if (length > MAX_URL_LENGTH) return false;
  if (isPlain && name.length <= MAX_LABEL_LENGTH) return true;
  // Punycode consists of ASCII letters, so a name in Punycode that contains no domain name in Latin
  // letters is not a domain.
  if (name.startsWith("xn--") && latinDomains(name).length === 0) return false;
  return name.split(".").every((label) => asciiLength(label) <= MAX_LABEL_LENGTH);
}

/**
 * Returns the length of a domain label in ASCII, or one that is not too long either; a label with
 * other letters is converted to Punycode, which takes microseconds unless it is short. A label of
 * more than twice the maximum length in UTF-16 units is too long in any form. It is not converted,
 * because the conversion sorts combining marks in quadratic time.
 */
function asciiLength(label: string): number {
  if (label.length > 2 * MAX_LABEL_LENGTH) return label.length;
  const isSafe = label.length <= MAX_SHORT_LABEL && isOwnMapping(label);
  return isSafe || /^\p{ASCII}*$/u.test(label) ? label.length : domainToASCII(label).length;
}

/** Whether no character of a label is replaced before the conversion to Punycode. */
function isOwnMapping(label: string): boolean {
  return label.toUpperCase().toLowerCase().normalize("NFKC") === label;
}

function toUrls(text: string, candidate: Candidate): TextRange[] {
  if (candidate.hasProtocol) return linkRanges(text, candidate);
  // A domain after a hyphen, an underscore, a dot or a slash is not a URL, because it is part of a
  // word, a path or a file name.
  if (/[-_./]/.test(text.charAt(candidate.start - 1))) return [];
  return bareDomainRanges(candidate);
}

/**
 * Returns the URLs in a range that begins with a protocol. A t.co link ends with its slug; the text
 * after the slug is not part of the link.
 */
function linkRanges(text: string, { start, end }: Candidate): TextRange[] {
  const short = SHORT_LINK.exec(text.slice(start, end));
  if (short === null) return [{ start, end }];
  const [link, slug = ""] = short;
  if (slug.length > MAX_SHORT_LINK_SLUG) return [];
  return [{ start, end: Math.min(end, endOfQuery(text, start + link.length)) }];
}

/**
 * Returns the URLs in a range without a protocol. Only the parts in Latin letters are domain names;
 * a path belongs to the last of these parts.
 */
function bareDomainRanges({ domain, end, name, isPlain, hasPath }: Candidate): TextRange[] {
  const { start } = domain;
  if (isPlain) return [{ start, end: hasPath ? end : domain.end }];
  const names = latinDomains(name).map((part) => ({
    start: start + part.start,
    end: start + part.end,
  }));
  const last = names.at(-1);
  if (last !== undefined && hasPath) last.end = end;
  return names;
}
