import type { TextRules, TextUnit } from "#src/rules.ts";
import { parseTelegramHtml } from "#src/telegram/html.ts";
import { composeText, findLongMarkRun } from "./normalize-text.ts";
import { findUrls } from "./urls.ts";

/** The kind of media that a text is published with; images and a video together count as a video. */
export type AttachedMedia = "none" | "image" | "video";

/** The maximum length of a text, in the unit in which the platform counts it. */
export interface TextLimit {
  readonly unit: TextUnit;
  readonly max: number;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

/** What `countText` returns for `telegram_html` when Telegram would refuse the markup. */
export const INVALID_MARKUP = -1;

const COUNTERS = {
  utf16: (text) => text.length,
  weighted: weightedLength,
  utf8_bytes: (text) => Buffer.byteLength(text, "utf8"),
  graphemes: countGraphemes,
  hashtags: countHashtags,
  mentions: countMentions,
  long_mark_run: findLongMarkRun,
  telegram_html: (text) => parseTelegramHtml(text)?.length ?? INVALID_MARKUP,
} satisfies Record<
  TextUnit | "hashtags" | "mentions" | "long_mark_run" | "telegram_html",
  (text: string) => number
>;

/**
 * What can be counted in a text: its length in a unit, its hashtags, its mentions, the combining marks of a run that is too
 * long, or its length without markup.
 */
export type TextMeasure = keyof typeof COUNTERS;

/**
 * Returns a number about a text. The length of a text in a platform's unit: `utf16` = UTF-16 units, `weighted` = the weights of
 * X, `utf8_bytes` = bytes, `graphemes` = user-perceived characters. `hashtags` and `mentions` = how many the text has.
 * `long_mark_run` = length of the first run of combining marks that is too long to be published, else 0. `telegram_html` = UTF-16
 * units that readers see of a text with Telegram's HTML tags, or `INVALID_MARKUP`.
 */
export function countText(text: string, measure: TextMeasure): number {
  return COUNTERS[measure](text);
}

/** A function that returns the same numbers as `countText`, and caches them. */
export type TextCounter = typeof countText;

/**
 * Creates a text counter for one request, which counts each text once per measure. Counting a text of the maximum size
 * takes tens of milliseconds, and a post to a hundred accounts needs the number a hundred times.
 */
export function createTextCounter(): TextCounter {
  const counted = new Map<TextMeasure, Map<string, number>>();
  return (text, measure) => {
    const ofMeasure = counted.get(measure) ?? new Map<string, number>();
    const known = ofMeasure.get(text) ?? countText(text, measure);
    counted.set(measure, ofMeasure.set(text, known));
    return known;
  };
}

/**
 * Returns all limits of the text of a post, which apply together; the limit in the platform's main unit is the first.
 *
 * @param traits What the platform says about the account, for example `verified_type` of X.
 */
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

/**
 * Returns the maximum length of a text for accounts with these traits; undefined when the limit of all accounts
 * applies.
 */
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
 * Returns the number of hashtags in a text: `#` and word characters, outside of words and HTML entities. Repeated
 * hashtags count again.
 */
function countHashtags(text: string): number {
  return text.match(/(?<![\p{L}\p{M}\p{N}_&])[#＃][\p{L}\p{M}\p{N}_]+/gu)?.length ?? 0;
}

/**
 * Returns the number of mentions in a text: `@` and a user name, outside of words, so that e-mail addresses do not
 * count.
 */
function countMentions(text: string): number {
  return text.match(/(?<![\p{L}\p{M}\p{N}_.@＠])[@＠]\w[\w.]*/gu)?.length ?? 0;
}

function countGraphemes(text: string): number {
  let count = 0;
  for (const _segment of segmenter.segment(text)) count += 1;
  return count;
}

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
/**
 * Length in UTF-16 units up to which a text is counted in its NFC form. A longer text is counted as it was written,
 * because normalizing it takes long.
 */
const MAX_COMPOSED_LENGTH = 65_536;

/**
 * Matches an emoji sequence that Unicode lists, or a keycap without its variation selector. The look-ahead only makes
 * matching faster: it skips the long list for characters that do not begin a sequence.
 */
const EMOJI = /(?=[\p{Emoji}--[0-9#*]]|[0-9#*]\ufe0f?\u20e3)(?:\p{RGI_Emoji}|[0-9#*]\u20e3)/gv;

/**
 * Returns the length of a text as X counts it: Latin letters 1, most other characters 2, an emoji sequence 2, and a URL
 * 23, whatever its length. The text is counted in its NFC form, unless it is far too long for X.
 *
 * Source: the configuration and the conformance text of twitter-text v3.
 */
export function weightedLength(text: string): number {
  const normalized = text.length > MAX_COMPOSED_LENGTH ? text : composeText(text);
  let length = 0;
  let position = 0;
  for (const url of findUrls(normalized)) {
    length += withoutUrls(normalized.slice(position, url.start)) + URL_WEIGHT;
    position = url.end;
  }
  return length + withoutUrls(normalized.slice(position));
}

function withoutUrls(text: string): number {
  let emoji = 0;
  const rest = text.replace(EMOJI, () => {
    emoji += 1;
    return "";
  });
  let length = emoji * HEAVY;
  for (const character of rest) length += isLight(character) ? LIGHT : HEAVY;
  return length;
}

function isLight(character: string): boolean {
  const codePoint = character.codePointAt(0) ?? 0;
  return LIGHT_RANGES.some(([first, last]) => codePoint >= first && codePoint <= last);
}
