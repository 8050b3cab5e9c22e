import { BoundedMap } from "@postrider/shared/limits/bounded-map";
import { composeText } from "#src/text/normalize-text.ts";
import { MAX_URL_LENGTH, urlsIn } from "#src/text/urls.ts";

/** Ranges of code points that count 1 in a text's length on X; every other character counts 2. */
const LIGHT_RANGES = [
  [0, 4351],
  [8192, 8205],
  [8208, 8223],
  [8242, 8247],
] as const;

const LIGHT = 1;
const HEAVY = 2;
const URL_WEIGHT = 23;
/** Maximum number of UTF-16 units per weight in a text: that of the longest URL. */
export const LONGEST_WEIGHT = MAX_URL_LENGTH / URL_WEIGHT;
/**
 * Length in UTF-16 units up to which a text is counted in its NFC form. A longer text is counted as
 * it was written, because normalizing it takes long.
 */
const MAX_COMPOSED_LENGTH = 65_536;

/**
 * They match an emoji sequence that Unicode lists, or a keycap without its variation selector. V8
 * compiles a pattern when it is first used: the one of joined emoji in 45 ms, the other in 10 ms.
 */
const JOINED_EMOJI = /\p{RGI_Emoji_ZWJ_Sequence}/vy;
const EMOJI =
  /[\p{Basic_Emoji}\p{Emoji_Keycap_Sequence}\p{RGI_Emoji_Modifier_Sequence}\p{RGI_Emoji_Flag_Sequence}\p{RGI_Emoji_Tag_Sequence}]|[0-9#*]\u20e3/vy;
/**
 * UTF-16 units with which the second character of an emoji sequence can begin, except those of skin
 * tones and flags.
 */
const SECOND_UNITS: ReadonlySet<number> = new Set([0xfe0f, 0x20e3, 0x200d, 0xdb40]);
/** The UTF-16 unit with which skin tones and the letters of flags begin. */
const PAIR_UNIT = 0xd83c;

/**
 * Returns the length of a text as X counts it: Latin letters 1, most other characters 2, an emoji
 * sequence 2, and a URL 23, whatever its length. The text is counted in its NFC form, unless it is
 * far too long for X.
 *
 * Source: the configuration and the conformance text of twitter-text v3.
 *
 * @param enough Counting stops once the length exceeds this number.
 */
export function weightedLength(text: string, enough = Infinity): number {
  const normalized = text.length > MAX_COMPOSED_LENGTH ? text : composeText(text);
  let length = 0;
  let position = 0;
  for (const url of urlsIn(normalized)) {
    length += weigh(normalized, { start: position, end: url.start }, enough - length) + URL_WEIGHT;
    position = url.end;
    if (length > enough) return length;
  }
  return length + weigh(normalized, { start: position, end: normalized.length }, enough - length);
}

function weigh(
  text: string,
  { start, end }: { readonly start: number; readonly end: number },
  enough: number,
): number {
  let weight = 0;
  for (let at = start; at < end && weight <= enough;) {
    const codePoint = text.codePointAt(at) ?? 0;
    const next = at + (codePoint > 0xffff ? 2 : 1);
    const sequenceEnd =
      mayBeginEmoji(codePoint) && mayBeSequence(text, codePoint, next)
        ? endOfEmoji(text, at, end)
        : undefined;
    weight += sequenceEnd === undefined && isLight(codePoint) ? LIGHT : HEAVY;
    at = sequenceEnd ?? next;
  }
  return weight;
}

/** The characters before U+203C that are emoji. */
const LATIN_EMOJI = new Set(Array.from("#*0123456789©®", (character) => character.charCodeAt(0)));

/** True for every emoji, and for some other characters. */
function mayBeginEmoji(codePoint: number): boolean {
  if (codePoint < 0x203c) return codePoint < 0xaf && LATIN_EMOJI.has(codePoint);
  return codePoint <= 0x3299 || codePoint >= 0x1f000;
}

/**
 * Whether an emoji of several characters can begin with a character. Every emoji of one character
 * counts 2 like other characters of its range, so it is not looked for: the pattern compares it
 * with thousands of sequences.
 */
function mayBeSequence(text: string, codePoint: number, next: number): boolean {
  const unit = text.charCodeAt(next);
  if (SECOND_UNITS.has(unit)) return true;
  if (unit !== PAIR_UNIT) return false;
  const low = text.charCodeAt(next + 1);
  const isSkinTone = low >= 0xdffb && low <= 0xdfff;
  return isSkinTone || isRegionalIndicator(codePoint);
}

function isRegionalIndicator(codePoint: number): boolean {
  return codePoint >= 0x1f1e6 && codePoint <= 0x1f1ff;
}

function endOfEmoji(text: string, at: number, end: number): number | undefined {
  const length = lengthOfEmoji(text, at);
  return length > 0 && at + length <= end ? at + length : undefined;
}

/**
 * Length in UTF-16 units of most emoji with a skin tone and of flags, which consist of two
 * characters.
 */
const PAIR_LENGTH = 4;
/** A length in UTF-16 units that is not shorter than any emoji sequence of Unicode. */
const LONGEST_EMOJI = 16;
/**
 * Lengths of the emoji with which pieces of text begin. Comparing a piece with all sequences takes
 * microseconds.
 */
const known = new BoundedMap<string, number>(4096);

function lengthOfEmoji(text: string, at: number): number {
  const isPair =
    text.charCodeAt(at + PAIR_LENGTH / 2) === PAIR_UNIT &&
    !SECOND_UNITS.has(text.charCodeAt(at + PAIR_LENGTH));
  const piece = text.slice(at, at + (isPair ? PAIR_LENGTH : LONGEST_EMOJI));
  const stored = known.get(piece);
  if (stored !== undefined) return stored;
  const length = matchEmoji(piece);
  known.set(piece, length);
  return length;
}

/** Returns the length of the emoji sequence with which a text begins; 0 if it begins with none. */
function matchEmoji(text: string): number {
  return (text.includes("\u200d") && matchLength(JOINED_EMOJI, text)) || matchLength(EMOJI, text);
}

function matchLength(pattern: RegExp, text: string): number {
  pattern.lastIndex = 0;
  return pattern.test(text) ? pattern.lastIndex : 0;
}

function isLight(codePoint: number): boolean {
  for (const [first, last] of LIGHT_RANGES) if (codePoint <= last) return codePoint >= first;
  return false;
}
