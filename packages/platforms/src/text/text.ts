import type { TextRules, TextUnit } from "#src/rules.ts";
import { weightedLength } from "./weighted-text.ts";

/** What kind of media goes with a text; a text with both counts as one with a video. */
export type AttachedMedia = "none" | "image" | "video";

/** A length that a text may not pass, and the unit in which it is counted. */
export interface TextLimit {
  readonly unit: TextUnit;
  readonly max: number;
}

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });

const COUNTERS = {
  utf16: (text) => text.length,
  weighted: weightedLength,
  utf8_bytes: (text) => Buffer.byteLength(text, "utf8"),
  graphemes: countGraphemes,
} satisfies Record<TextUnit, (text: string) => number>;

/**
 * The length of a text in a platform's unit: `utf16` = UTF-16 units, `weighted` = X's weights, `utf8_bytes` = bytes,
 * `graphemes` = what a reader takes for one character.
 */
export function countText(text: string, unit: TextUnit): number {
  return COUNTERS[unit](text);
}

/** A function with the meaning of `countText`. */
export type TextCounter = typeof countText;

/**
 * A counter for one request that counts each text once per unit. Counting a text of the largest accepted size takes
 * tens of milliseconds, and a post to a hundred accounts asks for it a hundred times.
 */
export function createTextCounter(): TextCounter {
  const counted = new Map<string, number>();
  return (text, unit) => {
    const key = `${unit} ${text}`;
    const known = counted.get(key) ?? countText(text, unit);
    counted.set(key, known);
    return known;
  };
}

/** Every limit that holds at once for the text of a post, the platform's main unit first. */
export function effectiveLimits(rules: TextRules, media: AttachedMedia): TextLimit[] {
  const main = { unit: rules.unit, max: mainLimit(rules, media) };
  return rules.maxUtf8Bytes === undefined
    ? [main]
    : [main, { unit: "utf8_bytes", max: rules.maxUtf8Bytes }];
}

function mainLimit(rules: TextRules, media: AttachedMedia): number {
  if (media === "image" && rules.photo !== undefined) return rules.photo.descriptionMax;
  if (media !== "none" && rules.maxWithMedia !== undefined) return rules.maxWithMedia;
  return rules.max;
}

/** Hashtags of a text: `#` and word characters, not inside a word or an HTML entity. Repeated ones count again. */
export function countHashtags(text: string): number {
  return text.match(/(?<![\p{L}\p{M}\p{N}_&])[#＃][\p{L}\p{M}\p{N}_]+/gu)?.length ?? 0;
}

/** Mentions of a text: `@` and a user name, not inside a word, so that e-mail addresses do not count. */
export function countMentions(text: string): number {
  return text.match(/(?<![\p{L}\p{M}\p{N}_.@＠])[@＠]\w[\w.]*/gu)?.length ?? 0;
}

function countGraphemes(text: string): number {
  let count = 0;
  for (const _segment of segmenter.segment(text)) count += 1;
  return count;
}
