import { foldText } from "./fold-text.ts";

/** How many keywords a comment needs: one of them, all of them, or its whole text equals one of them. */
export type MatchMode = "any" | "all" | "exact";

/** The words of an automation rule. */
export interface RuleWords {
  readonly keywords: readonly string[];
  readonly match: MatchMode;
  readonly excludeKeywords: readonly string[];
}

/** The result of matching a comment. `excluded`: the comment has the keywords and also a word that excludes it. */
export type CommentMatch = "match" | "excluded" | "no_match";

/**
 * A letter, digit, mark or connector of a script that puts spaces between words. Han, Kana, Hangul, Thai and their like
 * are left out, because there a word begins and ends without a visible boundary ("링크주세요").
 */
const WORD_CHARACTER =
  /[[\p{L}\p{M}\p{N}\p{Pc}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]/v;

/** The text of a comment in the form in which it is compared with keywords. */
export interface FoldedComment {
  readonly text: string;
  /** Whether the character at an index of `text` is a word character. */
  readonly isWord: readonly boolean[];
}

/** Folds the case of a comment's text, once for all rules, because folding takes longer than the comparison with a keyword. */
export function foldComment(comment: string): FoldedComment {
  const text = foldText(comment);
  const isWord = Array.from(text).flatMap((character) =>
    Array<boolean>(character.length).fill(isWordCharacter(character)),
  );
  return { text, isWord };
}

/**
 * Returns a function that matches comments with the words of an automation rule. Words are compared regardless of case and of
 * the width of characters. A keyword is found as a whole word: where it begins or ends with a letter of a script that separates
 * words, no such letter may stand beside it. Next to Han, Kana or Hangul it is found inside longer text.
 */
export function createCommentMatcher(words: RuleWords): (comment: FoldedComment) => CommentMatch {
  const keywords = words.keywords.map(toKeyword);
  const excluded = words.excludeKeywords.map(toKeyword);
  return (comment) => {
    if (!hasKeywords(comment, keywords, words.match)) return "no_match";
    return excluded.some((keyword) => hasWord(comment, keyword)) ? "excluded" : "match";
  };
}

interface Keyword {
  readonly text: string;
  /** Whether the keyword must not follow a word character. */
  readonly needsStart: boolean;
  /** Whether no word character may follow the keyword. */
  readonly needsEnd: boolean;
}

function toKeyword(keyword: string): Keyword {
  const { text, isWord } = foldComment(keyword);
  return { text, needsStart: isWord[0] === true, needsEnd: isWord.at(-1) === true };
}

function hasKeywords(
  comment: FoldedComment,
  keywords: readonly Keyword[],
  match: MatchMode,
): boolean {
  const has = (keyword: Keyword) => hasWord(comment, keyword);
  switch (match) {
    case "any":
      return keywords.some(has);
    case "all":
      return keywords.every(has);
    case "exact":
      return keywords.some(({ text }) => text === comment.text);
  }
}

/** Whether a comment contains a keyword as a whole word. */
function hasWord(
  { text, isWord }: FoldedComment,
  { text: keyword, needsStart, needsEnd }: Keyword,
): boolean {
  if (keyword === "") return false;
  for (let at = text.indexOf(keyword); at !== -1;) {
    const isStart = !needsStart || isWord[at - 1] !== true;
    const isEnd = !needsEnd || isWord[at + keyword.length] !== true;
    if (isStart && isEnd) return true;
    let next = at + 1;
    // The rest of the word is skipped, because no other word begins in it.
    if (needsStart) while (isWord[next - 1] === true) next += 1;
    at = text.indexOf(keyword, next);
  }
  return false;
}

function isWordCharacter(character: string): boolean {
  return WORD_CHARACTER.test(character);
}
