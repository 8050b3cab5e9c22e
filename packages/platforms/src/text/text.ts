import type { TextRules, TextUnit } from "#src/rules.ts";
import { findLongMarkRun } from "#src/text/normalize-text.ts";
import { parseTelegramHtml } from "#src/text/telegram-html.ts";
import { LONGEST_WEIGHT, weightedLength } from "#src/text/weighted-length.ts";

/**
 * A cashtag as X recognizes it: `$`, one to six letters, and possibly a suffix of one or two
 * letters, between blanks or punctuation. Source: twitter-text 3.1, `cashtag` and `validCashtag`.
 */
const CASHTAG =
  /(?<=^|\s)\$[a-z]{1,6}(?:[._][a-z]{1,2})?(?=$|\s|[!'#%&()*+,\\\-./:;<=>?@[\]^_{|}~$])/gi;

export function countCashtags(text: string): number {
  // The pattern looks behind each character, which takes a hundred times as long as a search for
  // `$`.
  return text.includes("$") ? (text.match(CASHTAG)?.length ?? 0) : 0;
}

export type AttachedMedia = "none" | "image" | "video";

export interface TextLimit {
  readonly unit: TextUnit;
  readonly max: number;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** What `countText` returns for `telegram_html` when Telegram would refuse the markup. */
export const INVALID_MARKUP = -1;

type Count = (text: string, enough: number) => number;

const COUNTERS = {
  utf16: (text) => text.length,
  weighted: weightedLength,
  utf8_bytes: (text) => Buffer.byteLength(text, "utf8"),
  graphemes: (text, enough) => countUpTo(segmenter.segment(text), enough),
  hashtags: (text, enough) => (/[#＃]/.test(text) ? countUpTo(text.matchAll(HASHTAG), enough) : 0),
  mentions: (text, enough) => (/[@＠]/.test(text) ? countUpTo(text.matchAll(MENTION), enough) : 0),
  cashtags: countCashtags,
  long_mark_run: findLongMarkRun,
  telegram_html: (text) => parseTelegramHtml(text)?.length ?? INVALID_MARKUP,
} satisfies Record<
  TextUnit | "hashtags" | "mentions" | "cashtags" | "long_mark_run" | "telegram_html",
  Count
>;

/**
 * What can be counted in a text: its length in a unit, its hashtags, mentions and cashtags, the
 * combining marks of a run that is too long, or its length without markup.
 */
export type TextMeasure = keyof typeof COUNTERS;

const MORE_THAN_ENOUGH = Infinity;

/**
 * Returns a number about a text. The length of a text in a platform's unit: `utf16` = UTF-16 units,
 * `weighted` = the weights of X, `utf8_bytes` = bytes, `graphemes` = user-perceived characters.
 * `hashtags`, `mentions` and `cashtags` = how many the text has. `long_mark_run` = length of the
 * first run of combining marks that is too long to be published, else 0. `telegram_html` = UTF-16
 * units that readers see of a text with Telegram's HTML tags, or `INVALID_MARKUP`.
 *
 * @param enough Counting may stop above this number, because the exact number is then not needed.
 *   The result is `MORE_THAN_ENOUGH` then.
 */
export function countText(text: string, measure: TextMeasure, enough = Infinity): number {
  const count: Count = COUNTERS[measure];
  const counted = count(text, enough);
  return counted > enough && !IS_ALWAYS_EXACT.has(measure) ? MORE_THAN_ENOUGH : counted;
}

const IS_ALWAYS_EXACT: ReadonlySet<TextMeasure> = new Set([
  "utf16",
  "utf8_bytes",
  "cashtags",
  "long_mark_run",
  "telegram_html",
]);

/**
 * Returns what `countText` returns, and caches it. The number is exact, or `MORE_THAN_ENOUGH` if it
 * is above `limit` and counting it would have taken long.
 */
export type TextCounter = (text: string, measure: TextMeasure, limit?: number) => number;

/**
 * Number of UTF-16 units of a request's texts that are counted to their ends for each measure, so
 * that an error can name the exact length. In further texts, counting stops above the limit,
 * because a request may have 256 KiB of texts.
 */
const EXACT_LENGTH = 32_768;

/**
 * Counts each text once per measure, because a post to a hundred accounts needs the number a
 * hundred times.
 */
export function createTextCounter(): TextCounter {
  const counted = new Map<string, Map<string, number>>();
  const exactLeft = new Map<TextMeasure, number>();
  const isExact = (measure: TextMeasure, { length }: string) => {
    const left = exactLeft.get(measure) ?? EXACT_LENGTH;
    if (length > left) return false;
    exactLeft.set(measure, left - length);
    return true;
  };
  return (text, measure, limit = Infinity) => {
    // Two limits of one measure have separate entries: a text may be counted up to the lower one
    // only.
    const key = `${measure} ${limit}`;
    const known = counted.get(key)?.get(text);
    if (known !== undefined) return known;
    const number = countText(text, measure, isExact(measure, text) ? Infinity : limit);
    counted.set(key, (counted.get(key) ?? new Map<string, number>()).set(text, number));
    return number;
  };
}

/**
 * Maximum number of UTF-16 units that one unit of a length can contain, for the units in which that
 * number is bounded.
 */
const LONGEST_UNIT: Readonly<Partial<Record<TextUnit, number>>> = {
  utf16: 1,
  utf8_bytes: 1,
  weighted: LONGEST_WEIGHT,
};

/** Known without reading the text; false means that the text has to be counted. */
export function isFarAbove(text: string, { unit, max }: TextLimit): boolean {
  const longest = LONGEST_UNIT[unit];
  return longest !== undefined && text.length > EXACT_LENGTH && text.length > max * longest;
}

/** Maximum length of a UTF-16 unit, for the units of length in which it is bounded. */
const MOST_PER_UTF16: Readonly<Partial<Record<TextUnit, number>>> = {
  utf16: 1,
  graphemes: 1,
  utf8_bytes: 3,
};

/** Known without reading the text; false means that the text has to be counted. */
export function isWithin(text: string, { unit, max }: TextLimit): boolean {
  const most = MOST_PER_UTF16[unit];
  return most !== undefined && text.length * most <= max;
}

/** They apply together; the limit in the platform's main unit is the first. */
export function effectiveLimits(
  rules: TextRules,
  media: AttachedMedia,
  traits: Readonly<Record<string, string>> = {},
): TextLimit[] {
  const max = limitByTrait(rules, traits) ?? mainLimit(rules, media);
  const main = { unit: rules.unit, max };
  return rules.maxUtf8Bytes === undefined
    ? [main]
    : [main, { unit: "utf8_bytes", max: rules.maxUtf8Bytes }];
}

/** Undefined when the limit of all accounts applies. */
function limitByTrait(
  { maxByTrait = {} }: TextRules,
  traits: Readonly<Record<string, string>>,
): number | undefined {
  const limits = Object.entries(maxByTrait).flatMap(
    ([trait, byValue]) => byValue[traits[trait] ?? ""] ?? [],
  );
  return limits.length === 0 ? undefined : Math.max(...limits);
}

function mainLimit(rules: TextRules, media: AttachedMedia): number {
  if (media === "image" && rules.photo !== undefined) return rules.photo.descriptionMax;
  if (media !== "none" && rules.maxWithMedia !== undefined) return rules.maxWithMedia;
  return rules.max;
}

/**
 * Matches a hashtag: `#` and word characters, outside of words and HTML entities. Repeated hashtags
 * count again.
 */
const HASHTAG = /(?<![\p{L}\p{M}\p{N}_&])[#＃][\p{L}\p{M}\p{N}_]+/gu;
/**
 * Matches a mention: `@` and a user name, outside of words, so that e-mail addresses do not count.
 */
const MENTION = /(?<![\p{L}\p{M}\p{N}_.@＠])[@＠]\w[\w.]*/gu;

function countUpTo(items: Iterable<unknown>, enough: number): number {
  let count = 0;
  for (const _item of items) {
    count += 1;
    if (count > enough) break;
  }
  return count;
}
