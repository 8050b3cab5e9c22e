import type { Length, Writer } from "./composition.ts";
import { splitAtLimit } from "./count-text.ts";
import type { Draft, DraftMedia } from "./draft.ts";
import type { composeEn } from "./words-en.ts";

export interface TextPart {
  readonly text: string;
  readonly isLink: boolean;
  /** Beyond what the platform takes. */
  readonly isOver: boolean;
}

const LINK = /https?:\/\/[^\s<>"]+/giu;

/** A text with its links, cut where it passes the limit. */
export function previewParts(text: string, { unit, max }: Length): readonly TextPart[] {
  const [fits] = splitAtLimit(text, unit, max);
  const parts: TextPart[] = [];
  const add = (from: number, to: number, isLink: boolean) => {
    const middle = Math.min(Math.max(from, fits.length), to);
    if (middle > from) parts.push({ text: text.slice(from, middle), isLink, isOver: false });
    if (to > middle) parts.push({ text: text.slice(middle, to), isLink, isOver: true });
  };
  let end = 0;
  for (const { index, 0: link } of text.matchAll(LINK)) {
    add(end, index, false);
    add(index, index + link.length, true);
    end = index + link.length;
  }
  add(end, text.length, false);
  return parts;
}

/** Platforms that show several pictures as one thing. */
const ALBUMS = new Set(["instagram", "telegram", "tiktok"]);

function mediaWords(
  media: readonly DraftMedia[],
  { platform }: Writer,
  words: (typeof composeEn)["gets"],
): readonly string[] {
  const pictures = media.filter(({ kind }) => kind === "image").length;
  const videos = media.length - pictures;
  const isAlbum = pictures > 1 && ALBUMS.has(platform);
  return [
    ...(pictures === 0 ? [] : [isAlbum ? words.album(pictures) : words.pictures(pictures)]),
    ...(videos === 0 ? [] : [words.videos(videos)]),
  ];
}

/** "Own text, 3 pictures": what goes out to an account. */
export function getsWords(
  { text, own, media }: Draft,
  writer: Writer,
  words: (typeof composeEn)["gets"],
): string {
  const content = own[writer.id]?.content;
  const first = content === undefined ? words.text : words.ownText;
  const isEmpty = (content ?? text).trim() === "";
  return words.join([isEmpty ? words.noText : first, ...mediaWords(media, writer, words)]);
}
