import tlds from "tlds" with { type: "json" };

export interface TextRange {
  readonly start: number;
  readonly end: number;
}

// The character sets for domain names of twitter-text 3.1. The sets list UTF-16 units: a letter
// outside the basic plane consists of two units.
const NOT_IN_NAMES =
  "\\x09-\\x0D\\x20\\x85\\xA0\\u1680\\u180E\\u2000-\\u200A\\u2028\\u2029\\u202F\\u205F\\u3000" +
  "\\u202A-\\u202E\\u061C\\u200E\\u200F\\u2066-\\u2069\\uFFFE\\uFEFF\\uFFFF" +
  "!'#%&()*+,\\\\/:;<=>?@\\[\\]^{|}~$";
const RUN = new RegExp(`[^${NOT_IN_NAMES}]+`, "g");
const NO_NAME_AFTER = /[A-Za-z0-9@＠$#＃\uFFFE\uFEFF\uFFFF]/;
const NO_TLD_BEFORE = /[0-9a-zA-Z@+-]/;
const PUNYCODE_TLD = /xn--[-0-9a-z]+/iy;

export const LATIN_ACCENTS =
  "\\xC0-\\xD6\\xD8-\\xF6\\xF8-\\u024F\\u0253\\u0254\\u0256\\u0257\\u0259\\u025B\\u0263\\u0268\\u026F\\u0272\\u0289\\u028B\\u02BB\\u0300-\\u036F\\u1E00-\\u1EFF";
const LATIN_LETTER = `[-a-z0-9${LATIN_ACCENTS}]`;
/**
 * Matches labels in Latin letters, also the last one, which no dot follows. Without it, a long
 * label without a dot would be read again from each of its letters.
 */
const LATIN_LABELS = new RegExp(`${LATIN_LETTER}+(?:\\.${LATIN_LETTER}+)*\\.?`, "gi");

const TOP_LEVEL = new Set(tlds);
const LONGEST_TLD = Math.max(...tlds.map((name) => name.length));

export function isTopLevelDomain(name: string): boolean {
  return TOP_LEVEL.has(name);
}

export function nextRun(text: string, from: number): TextRange | undefined {
  RUN.lastIndex = from;
  const match = RUN.exec(text);
  return match === null ? undefined : { start: match.index, end: match.index + match[0].length };
}

/**
 * Whether the characters before `start` allow a URL to begin there, when the URL before it ends at
 * `consumed`.
 */
export function mayBegin(text: string, start: number, consumed: number): boolean {
  if (start === 0) return true;
  return start > consumed && !NO_NAME_AFTER.test(text.charAt(start - 1));
}

/**
 * Returns the domain names in one run of characters, each as long as possible: domain labels that
 * end in a known top-level domain. The first name may not begin before `consumed`. Each character
 * is read a fixed number of times, so the run time is linear.
 */
export function* domainsIn(text: string, run: TextRange, consumed: number): Generator<TextRange> {
  const labels = splitLabels(text, run);
  const lastDots = findLastDots(text, labels);
  let position = consumed;
  for (let index = 0; index < labels.length; index += 1) {
    const label = labels[index];
    const lastDot = lastDots[index];
    if (label === undefined || lastDot === undefined || label.end < position) continue;
    // The label directly before the top-level domain must not contain an underscore; other labels
    // may.
    const floor = lastDot.index > index ? label.start : Math.max(label.start, label.underscore + 1);
    const start = findStart(text, { start: floor, end: label.end }, position);
    if (start === undefined) continue;
    yield { start, end: lastDot.end };
    position = lastDot.end;
  }
}

interface Label extends TextRange {
  readonly underscore: number;
}

function splitLabels(text: string, run: TextRange): Label[] {
  const labels: Label[] = [];
  let underscore = -1;
  let start = run.start;
  for (let at = run.start; at <= run.end; at += 1) {
    const unit = at === run.end ? DOT : text.charCodeAt(at);
    if (unit === UNDERSCORE) underscore = at;
    if (unit !== DOT) continue;
    labels.push({ start, end: at, underscore });
    underscore = -1;
    start = at + 1;
  }
  return labels;
}

const DOT = 46;
const UNDERSCORE = 95;

interface LastDot {
  readonly index: number;
  readonly end: number;
}

/**
 * For each domain label, finds the last dot before a top-level domain up to which a domain name
 * from this label can continue. The labels are read from the last to the first, each once, so the
 * run time is linear.
 */
function findLastDots(text: string, labels: readonly Label[]): (LastDot | undefined)[] {
  const found: (LastDot | undefined)[] = [];
  found.length = labels.length;
  // The last dot that a domain name can reach when it contains the whole label that follows in the
  // text. The loop has already read that label.
  let onward: LastDot | undefined;
  for (let index = labels.length - 1; index >= 0; index -= 1) {
    const label = labels[index];
    if (label === undefined) continue;
    const here = isClosed(text, label) ? dotAfter(text, index, labels[index + 1]) : undefined;
    const last = isClosed(text, label) ? (onward ?? here) : undefined;
    found[index] = last;
    const whole = last !== here || label.underscore < 0;
    onward = whole && !isJoiner(text, label.start) ? last : undefined;
  }
  return found;
}

function dotAfter(text: string, index: number, next: Label | undefined): LastDot | undefined {
  const end = next === undefined ? undefined : endOfTopLevel(text, next);
  return end === undefined ? undefined : { index, end };
}

/**
 * Whether a domain name may continue with a dot after this label: the label is not empty and does
 * not end in `-` or `_`.
 */
function isClosed(text: string, label: Label): boolean {
  return label.end > label.start && !isJoiner(text, label.end - 1);
}

function isJoiner(text: string, position: number): boolean {
  const character = text.charAt(position);
  return character === "-" || character === "_";
}

function findStart(text: string, within: TextRange, consumed: number): number | undefined {
  const first = firstStart(text, within, Math.max(within.start, consumed), consumed);
  if (first !== 0) return first;
  return !isJoiner(text, 1) && within.end > 1 && mayBegin(text, 1, 0) ? 1 : 0;
}

function firstStart(
  text: string,
  within: TextRange,
  from: number,
  consumed: number,
): number | undefined {
  for (let at = from; at < within.end; at += 1)
    if (!isJoiner(text, at) && mayBegin(text, at, consumed)) return at;

  return undefined;
}

/** Undefined when the label does not start with a top-level domain. */
function endOfTopLevel(text: string, label: TextRange): number | undefined {
  const longest = Math.min(LONGEST_TLD, label.end - label.start);
  const candidate = text.slice(label.start, label.start + longest).toLowerCase();
  for (let length = longest; length > 1; length -= 1) {
    if (!TOP_LEVEL.has(candidate.slice(0, length))) continue;
    const end = label.start + length;
    if (!NO_TLD_BEFORE.test(text.charAt(end))) return end;
  }
  PUNYCODE_TLD.lastIndex = label.start;
  return PUNYCODE_TLD.test(text) ? PUNYCODE_TLD.lastIndex : undefined;
}

export function latinDomains(domain: string): TextRange[] {
  const found: TextRange[] = [];
  LATIN_LABELS.lastIndex = 0;
  for (let match = LATIN_LABELS.exec(domain); match !== null; match = LATIN_LABELS.exec(domain)) {
    const end = endOfLatinDomain(domain, match.index, match[0].lastIndexOf("."));
    if (end === undefined) continue;
    found.push({ start: match.index, end });
    LATIN_LABELS.lastIndex = end;
  }
  return found;
}

/**
 * The dots are tried from the last to the first. `lastDot` = offset from `start`, -1 if there is
 * none.
 */
function endOfLatinDomain(domain: string, start: number, lastDot: number): number | undefined {
  for (let dot = start + lastDot; dot > start; dot = domain.lastIndexOf(".", dot - 1)) {
    const end = endOfTopLevel(domain, { start: dot + 1, end: domain.length });
    if (end !== undefined) return end;
  }
  return undefined;
}
