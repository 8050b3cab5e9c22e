import { normalizeInParts } from "@postrider/platforms/text/normalize-text";

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
  const folded = normalizeInParts(foldCase(normalizeInParts(text, "NFKD")), "NFKC");
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
