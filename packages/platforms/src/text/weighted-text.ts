import { findUrls } from "./urls.ts";

/** Ranges of code points that count 1; every other character counts 2. */
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
 * An emoji sequence that Unicode lists, or a keycap without its variation selector. The look-ahead only makes matching
 * faster: it skips the long list for characters that do not begin a sequence.
 */
const EMOJI = /(?=[\p{Emoji}--[0-9#*]]|[0-9#*]\ufe0f?\u20e3)(?:\p{RGI_Emoji}|[0-9#*]\u20e3)/gv;

/**
 * The length of a text as X counts it: Latin letters 1, most other characters 2, an emoji sequence 2, and a URL 23,
 * whatever its length. The text is counted in its NFC form.
 * Source: the configuration and the conformance text of twitter-text v3.
 */
export function weightedLength(text: string): number {
  const normalized = text.normalize("NFC");
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
