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
 * UTF-16 units of which combining marks consist. Other characters may share the second unit of a
 * pair, so a run of these units only may be a run of marks. Finding them takes 20 ms, so the first
 * text that may have marks does it.
 */
let unitsOfMarks: Uint8Array | undefined;

function findUnitsOfMarks(): Uint8Array {
  const units = new Uint8Array(0x10000);
  const add = (first: number, last: number): void => {
    const points = Array.from({ length: last - first + 1 }, (_, index) => first + index);
    for (const [marks] of String.fromCodePoint(...points).matchAll(new RegExp(`${MARK}+`, "gu")))
      for (let at = 0; at < marks.length; at += 1) units[marks.charCodeAt(at)] = 1;
  };
  // The blocks of Unicode that contain marks: planes 0 and 1, in parts as large as a call may have
  // arguments, and the variation selectors.
  for (let first = 0x300; first < 0x20000; first += 0x4000) add(first, first + 0x3fff);
  add(0xe0100, 0xe01ef);
  return units;
}

/**
 * Whether a text may have a run of combining marks that is too long. Most texts do not, and the
 * pattern takes ten times as long.
 */
function mayHaveLongRun(text: string): boolean {
  unitsOfMarks ??= findUnitsOfMarks();
  let run = 0;
  for (let at = 0; at < text.length; at += 1) {
    run = unitsOfMarks[text.charCodeAt(at)] === 1 ? run + 1 : 0;
    if (run > MAX_MARKS) return true;
  }
  return false;
}

/**
 * The first mark is U+0300. Texts without it and later characters, which are most, are in NFC. The
 * search takes a hundredth of the time of `normalize`.
 */
const MAY_HAVE_MARKS = /[\u0300-\uffff]/;

/**
 * Returns the length of the first run of combining marks that is longer than `MAX_MARKS`; 0 if no
 * run is.
 */
export function findLongMarkRun(text: string): number {
  if (!MAY_HAVE_MARKS.test(text) || !mayHaveLongRun(text)) return 0;
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
  if (findLongMarkRun(text) === 0) return text.normalize(form);
  return text
    .split(PART)
    .map((part) => part.normalize(form))
    .join("");
}

export function composeText(text: string): string {
  return MAY_HAVE_MARKS.test(text) ? normalizeInParts(text, "NFC") : text;
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
