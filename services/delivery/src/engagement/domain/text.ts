import type { PlatformComment } from "@postrider/platforms/comments/connector";
import { normalizeInParts } from "@postrider/platforms/text/normalize-text";

/** In characters. The REST API has the same limit; the longest ids are Bluesky's. */
const MAX_MEDIA_ID_LENGTH = 512;
/** Platforms have no longer ones; the table `inbox_comments` checks the same lengths. */
const MAX_AUTHOR_ID_LENGTH = 512;
const MAX_AUTHOR_NAME_LENGTH = 256;

/** Counted in Unicode code points, as JSON Schema counts them. */
export function isAtMost(text: string, max: number): boolean {
  // A character outside the Basic Multilingual Plane has two UTF-16 code units, so a text with at
  // most `max` code units need not be counted.
  return text.length <= max || (text.length <= 2 * max && Array.from(text).length <= max);
}

export function isMediaId(text: string): boolean {
  return text !== "" && isAtMost(text, MAX_MEDIA_ID_LENGTH);
}

/**
 * Returns the text in a form in which two texts are equal if people consider them the same word:
 * with compatibility characters replaced (NFKC), without the difference between upper and lower
 * case, and with single spaces.
 *
 * Case is removed by full case folding as Unicode defines it (Core Specification 3.13,
 * `CaseFolding.txt` C + F), which JavaScript does not offer. `toLowerCase` alone is not case
 * folding: it keeps "ß" apart from "SS" and "ς" apart from "σ".
 */
export function foldText(text: string): string {
  // Half-width voicing marks are no combining marks, but NFKD makes such marks of them.
  const marked = text.replaceAll("\uff9e", "\u3099").replaceAll("\uff9f", "\u309a");
  const folded = normalizeInParts(foldCase(normalizeInParts(marked, "NFKD")), "NFKC");
  return folded.replaceAll(/\s+/gu, " ").trim();
}

/**
 * Folds the case of a text. Lower, upper and lower case after each other apply the full mappings
 * ("ẞ" → "ß" → "SS" → "ss"), with two exceptions: JavaScript lowers a sigma at the end of a word to
 * "ς", and raises the dotless "ı", which has no folding, to "I".
 */
function foldCase(text: string): string {
  return text
    .split("ı")
    .map((part) => part.toLowerCase().toUpperCase().toLowerCase().replaceAll("ς", "σ"))
    .join("ı");
}

/** Replaces what Postgres cannot store: NUL and unpaired surrogates. */
function toStorable(text: string): string {
  return text.toWellFormed().replaceAll("\0", "\u{FFFD}");
}

function toStorableName(name: string | null, max: number): string | null {
  return name === null || !isAtMost(name, max) ? null : toStorable(name);
}

/**
 * An author's name or id that is too long is left out, because a part of it would name another
 * person.
 */
export function toStorableComment(comment: PlatformComment): PlatformComment {
  const { id, text, authorId, authorUsername } = comment;
  return {
    ...comment,
    id: toStorable(id),
    text: toStorable(text),
    authorId: toStorableName(authorId, MAX_AUTHOR_ID_LENGTH),
    authorUsername: toStorableName(authorUsername, MAX_AUTHOR_NAME_LENGTH),
  };
}
