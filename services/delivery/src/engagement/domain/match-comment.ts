import { foldText } from "./fold-text.ts";

/** How many keywords a comment needs: one of them, all of them, or its whole text equals one of them. */
export type MatchMode = "any" | "all" | "exact";

/** The words of an automation rule. */
export interface RuleWords {
  readonly keywords: readonly string[];
  readonly match: MatchMode;
  readonly excludeKeywords: readonly string[];
}

/** `excluded`: the comment has the keywords and also a word that excludes it. */
export type CommentMatch = "match" | "excluded" | "no_match";

/**
 * A letter, digit, mark or connector of a script that puts spaces between words. Han, Kana, Hangul, Thai and their like
 * are left out, because there a word begins and ends without a visible boundary ("링크주세요").
 */
const WORD_CHARACTER =
  /[[\p{L}\p{M}\p{N}\p{Pc}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]/v;

/**
 * Returns a function that matches texts of comments with the words of a rule. Words are compared without upper and lower
 * case and without the width of characters. A keyword is found as a whole word: where it begins or ends with a letter of
 * a script that separates words, no such letter may stand beside it. Next to Han, Kana or Hangul it is found inside
 * longer text.
 */
export function createCommentMatcher(words: RuleWords): (text: string) => CommentMatch {
  const keywords = words.keywords.map(foldText);
  const excluded = words.excludeKeywords.map(foldText);
  return (comment) => {
    const text = foldText(comment);
    const has = (keyword: string) => hasWord(text, keyword);
    if (!hasKeywords(text, keywords, words.match)) return "no_match";
    return excluded.some(has) ? "excluded" : "match";
  };
}

function hasKeywords(text: string, keywords: readonly string[], match: MatchMode): boolean {
  switch (match) {
    case "any":
      return keywords.some((keyword) => hasWord(text, keyword));
    case "all":
      return keywords.every((keyword) => hasWord(text, keyword));
    case "exact":
      return keywords.includes(text);
  }
}

/** Whether a folded text contains a folded keyword as a whole word. */
function hasWord(text: string, keyword: string): boolean {
  if (keyword === "") return false;
  const needsStart = isWordCharacter(characterAfter(keyword, 0));
  const needsEnd = isWordCharacter(characterBefore(keyword, keyword.length));
  for (let at = text.indexOf(keyword); at !== -1; at = text.indexOf(keyword, at + 1)) {
    const end = at + keyword.length;
    const isStart = !needsStart || !isWordCharacter(characterBefore(text, at));
    const isEnd = !needsEnd || !isWordCharacter(characterAfter(text, end));
    if (isStart && isEnd) return true;
  }
  return false;
}

function isWordCharacter(character: string): boolean {
  return WORD_CHARACTER.test(character);
}

/** Returns the character that begins at an index; empty at the end of the text. */
function characterAfter(text: string, index: number): string {
  const codePoint = text.codePointAt(index);
  return codePoint === undefined ? "" : String.fromCodePoint(codePoint);
}

/** Returns the character that ends at an index; empty at the start of the text. */
function characterBefore(text: string, index: number): string {
  const last = text.charCodeAt(index - 1);
  const isLowSurrogate = last >= 0xdc_00 && last <= 0xdf_ff;
  return index === 0 ? "" : text.slice(index - (isLowSurrogate && index > 1 ? 2 : 1), index);
}
