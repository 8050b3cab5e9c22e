export const MAX_MARKS = 30;

/**
 * Matches a character that Unicode combines with the character before it: a mark, or one of two
 * vowel signs of Kirat Rai, which are letters.
 */
const MARK = String.raw`[\p{M}\u{16D67}\u{16D68}]`;
/**
 * Matches a run of combining marks that is too long to be published. The look-behind makes the time
 * of the match linear: a match begins only at the start of a run.
 */
const LONG_RUN = new RegExp(`(?<!${MARK})${MARK}{${MAX_MARKS + 1},}`, "u");
const PART = new RegExp(`(${MARK}{${MAX_MARKS}})`, "u");

/**
 * Returns the length of the first run of combining marks that is longer than `MAX_MARKS`; 0 if no
 * run is.
 */
export function findLongMarkRun(text: string): number {
  const [run] = LONG_RUN.exec(text) ?? [];
  return run === undefined ? 0 : Array.from(run).length;
}

/**
 * Returns the text in a normalization form, in a time that is linear in its length. `normalize`
 * sorts each run of combining marks in quadratic time: a run of 85,000 marks takes 15 seconds. So a
 * text with a run that is too long to be published is normalized in parts; its form is then the
 * same for equal texts, but not exactly the normalization form.
 */
export function normalizeInParts(text: string, form: "NFC" | "NFKC" | "NFKD"): string {
  if (!LONG_RUN.test(text)) return text.normalize(form);
  return text
    .split(PART)
    .map((part) => part.normalize(form))
    .join("");
}

export function composeText(text: string): string {
  return normalizeInParts(text, "NFC");
}

/**
 * Returns the text in the form in which texts of posts are compared: without what platforms may
 * change, which are the Unicode form and white space. An absent text counts as empty.
 */
export function normalizeText(text: string | undefined): string {
  return composeText(text ?? "")
    .replaceAll(/\s+/g, " ")
    .trim();
}
