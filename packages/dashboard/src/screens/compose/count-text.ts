import type { PlatformRules } from "@postrider/client";

type Unit = PlatformRules["text"]["unit"];
type Count = (text: string) => number;

const segmenter = new Intl.Segmenter(undefined, { granularity: "grapheme" });
const encoder = new TextEncoder();

function countGraphemes(text: string): number {
  let count = 0;
  for (const _grapheme of segmenter.segment(text)) count += 1;
  return count;
}

const URL_WEIGHT = 23;
const URL_IN_TEXT = /https?:\/\/[^\s<>"]+/giu;
const EMOJI = /\p{RGI_Emoji}/gv;

function isLight(code: number): boolean {
  return (
    code <= 4351 ||
    (code >= 8192 && code <= 8205) ||
    (code >= 8208 && code <= 8223) ||
    (code >= 8242 && code <= 8247)
  );
}

/**
 * As X counts: a URL 23, Latin letters 1, other characters and emoji 2. Bare domains, which X takes
 * for URLs too, are counted as text: for them the server's count is another one, and it decides.
 */
function countWeighted(text: string): number {
  const urls = text.match(URL_IN_TEXT)?.length ?? 0;
  // Every emoji counts as one heavy character, however many code points it consists of.
  const rest = text.normalize("NFC").replaceAll(URL_IN_TEXT, "").replaceAll(EMOJI, "\u{1f600}");
  let weight = urls * URL_WEIGHT;
  for (const character of rest) weight += isLight(character.codePointAt(0) ?? 0) ? 1 : 2;
  return weight;
}

const COUNTS: Readonly<Record<string, Count>> = {
  utf16: (text) => text.length,
  utf8_bytes: (text) => encoder.encode(text).length,
  graphemes: countGraphemes,
  weighted: countWeighted,
};

/** The length of a text in the unit of a platform; units that are not known count UTF-16. */
export function countText(text: string, unit: Unit): number {
  return (COUNTS[unit] ?? COUNTS["utf16"])?.(text) ?? text.length;
}

export type Attached = "none" | "image" | "video";

/** The limit of the main unit. Accounts with other limits are known to the server only. */
export function textLimitOf(rules: PlatformRules, attached: Attached): number {
  const { text } = rules;
  if (attached === "image" && text.photo !== undefined) return text.photo.descriptionMax;
  if (attached !== "none" && text.maxWithMedia !== undefined) return text.maxWithMedia;
  return text.max;
}

/** Where a text passes a limit: the part that fits, and the part beyond, at whole characters. */
export function splitAtLimit(text: string, unit: Unit, max: number): readonly [string, string] {
  if (countText(text, unit) <= max) return [text, ""];
  const ends = Array.from(segmenter.segment(text), ({ index, segment }) => index + segment.length);
  let fits = 0;
  let over = ends.length;
  // The count grows with the text, so that the last end that fits is found by halves.
  while (fits < over) {
    const middle = (fits + over) >> 1;
    if (countText(text.slice(0, ends[middle]), unit) <= max) fits = middle + 1;
    else over = middle;
  }
  const end = fits === 0 ? 0 : (ends[fits - 1] ?? 0);
  const cut = unit === "weighted" ? beforeUrl(text, end) : end;
  return [text.slice(0, cut), text.slice(cut)];
}

/** X counts a URL as a whole, so that it fits as a whole or not at all. */
function beforeUrl(text: string, end: number): number {
  for (const { index, 0: url } of text.matchAll(URL_IN_TEXT))
    if (index < end && end < index + url.length) return index;
  return end;
}
