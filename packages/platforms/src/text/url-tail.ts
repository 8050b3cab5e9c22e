import { LATIN_ACCENTS } from "./domains.ts";

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
  const pathStart = endOfMatch(PORT, text, from);
  const pathEnd = endOfPath(text, pathStart);
  return { pathStart, pathEnd, end: endOfQuery(text, pathEnd) };
}

export function endOfQuery(text: string, from: number): number {
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
