import { findLinks } from "#src/x/links.ts";

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
