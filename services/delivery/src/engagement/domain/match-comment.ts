import { normalizeInParts } from "@postrider/platforms/text/normalize-text";
import { foldText } from "./text.ts";
import { WordAutomaton } from "./word-automaton.ts";

/**
 * A letter, digit, mark or connector of a script that puts spaces between words. Han, Kana, Hangul,
 * Thai and their like are left out, because there a word begins and ends without a visible boundary
 * ("링크주세요").
 */
const WORD_CHARACTER =
  /[[\p{L}\p{M}\p{N}\p{Pc}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]/v;

/**
 * What is known of each character of the Basic Multilingual Plane: 0 = not asked yet, 1 = not a
 * word character, 2 = is one.
 */
const KNOWN = new Uint8Array(0x1_00_00);

/** Whether the character around the unit at `index` is a word character; false outside. */
function isWordAt(text: string, index: number): boolean {
  const unit = text.charCodeAt(index);
  if (Number.isNaN(unit)) return false;
  if (unit >= 0xd8_00 && unit <= 0xdf_ff) return isAstralWordAt(text, index);
  const known = KNOWN[unit];
  if (known !== undefined && known !== 0) return known === 2;
  const isWord = WORD_CHARACTER.test(String.fromCharCode(unit));
  KNOWN[unit] = isWord ? 2 : 1;
  return isWord;
}

function isAstralWordAt(text: string, index: number): boolean {
  const before = text.codePointAt(index - 1) ?? 0;
  const code = before > 0xff_ff ? before : text.codePointAt(index);
  return code !== undefined && WORD_CHARACTER.test(String.fromCodePoint(code));
}

/** One of the keywords, all of them, or one as the whole text. */
export type MatchMode = "any" | "all" | "exact";

export interface RuleWords {
  readonly keywords: readonly string[];
  readonly match: MatchMode;
  readonly excludeKeywords: readonly string[];
}

/** `excluded`: the comment has the keywords and also a word that excludes it. */
export type CommentMatch = "match" | "excluded" | "no_match";

export interface CommentMatcher {
  /** In states of the automaton, each about 30 bytes. */
  readonly size: number;
  /** In the order of the rules. */
  readonly match: (comment: string) => readonly CommentMatch[];
}

/**
 * Number of characters of a comment's decomposed text that are compared with keywords; what follows
 * is not read. The longest comment of a platform with automations has 8,000 characters (Facebook),
 * of which Hangul decomposes each into three. The limit bounds the time for texts of characters
 * like U+FDFA, which decomposes into 18.
 */
const MAX_DECOMPOSED_LENGTH = 32_768;
const PIECE_LENGTH = 256;
/** At the end of a shortened text, these characters could differ from those of the whole. */
const UNSAFE_LENGTH = 64;

interface FoldedComment {
  readonly text: string;
  /** Whether more text follows, which is not compared. */
  readonly isCut: boolean;
}

function foldComment(comment: string): FoldedComment {
  const end = readableLength(comment);
  if (end >= comment.length) return { text: foldText(comment), isCut: false };
  return { text: foldText(comment.slice(0, end)).slice(0, -UNSAFE_LENGTH), isCut: true };
}

function readableLength(comment: string): number {
  if (comment.length * 18 <= MAX_DECOMPOSED_LENGTH) return comment.length;
  let end = 0;
  for (let length = 0; length <= MAX_DECOMPOSED_LENGTH && end < comment.length;) {
    length += normalizeInParts(comment.slice(end, end + PIECE_LENGTH), "NFKD").length;
    end += PIECE_LENGTH;
  }
  return end;
}

interface Rule {
  readonly match: MatchMode;
  /** The folded keywords of a rule with the mode `exact`. */
  readonly wholes: ReadonlySet<string>;
  /** Numbers in the automaton; undefined for a word that folds to nothing and matches nothing. */
  readonly keywords: readonly (number | undefined)[];
  readonly excluded: readonly (number | undefined)[];
}

/**
 * Builds a matcher of comments for automation rules. Words are compared regardless of case and of
 * the width of characters. A keyword is found as a whole word: where it begins or ends with a
 * letter of a script that separates words, no such letter may stand beside it. Next to Han, Kana or
 * Hangul it is found inside longer text.
 *
 * The generator pauses regularly, so that the caller can let other work run: 100 rules have up to
 * 10,000 words.
 */
export function* buildCommentMatcher(
  rules: readonly RuleWords[],
): Generator<undefined, CommentMatcher> {
  const ids = new Map<string, number>();
  const toId = (word: string) => {
    const text = foldText(word);
    if (text === "") return undefined;
    const id = ids.get(text) ?? ids.size;
    ids.set(text, id);
    return id;
  };
  const numbered: Rule[] = [];
  for (const { match, keywords, excludeKeywords } of rules) {
    const isExact = match === "exact";
    numbered.push({
      match,
      wholes: new Set(isExact ? keywords.map(foldText) : []),
      keywords: isExact ? [] : keywords.map(toId),
      excluded: excludeKeywords.map(toId),
    });
    yield;
  }
  const words = [...ids.keys()];
  const automaton = yield* WordAutomaton.build(words);
  return {
    size: automaton.size,
    match: (comment) => {
      const folded = foldComment(comment);
      const found = findWords(folded, automaton, words);
      return numbered.map((rule) => matchRule(rule, folded, found));
    },
  };
}

export function createCommentMatcher(rules: readonly RuleWords[]): CommentMatcher {
  const building = buildCommentMatcher(rules);
  for (;;) {
    const step = building.next();
    if (step.done === true) return step.value;
  }
}

function matchRule(
  { match, wholes, keywords, excluded }: Rule,
  { text, isCut }: FoldedComment,
  found: ReadonlySet<number | undefined>,
): CommentMatch {
  const has = (id: number | undefined) => id !== undefined && found.has(id);
  const isFound = {
    any: () => keywords.some(has),
    all: () => keywords.every(has),
    exact: () => !isCut && wholes.has(text),
  }[match]();
  if (!isFound) return "no_match";
  return excluded.some(has) ? "excluded" : "match";
}

function findWords(
  { text, isCut }: FoldedComment,
  automaton: WordAutomaton,
  words: readonly string[],
): ReadonlySet<number> {
  const found = new Set<number>();
  // The text of a state has the character before each of its words but the longest one. So these
  // are the same at each end, and a hundred words within each other are looked at once.
  const known = new Set<number>();
  automaton.visitEnds(text, (state, end) => {
    // All words that end here end with the same character, so none of them ends a word if a word
    // character follows.
    const isFollowed = end === text.length ? isCut : isWordAt(text, end);
    if (isFollowed && isWordAt(text, end - 1)) return;
    for (const id of automaton.wordsOf(state)) {
      const start = end - (words[id]?.length ?? 0);
      if (!isWordAt(text, start) || !isWordAt(text, start - 1)) found.add(id);
      if (known.has(state)) break;
    }
    known.add(state);
  });
  return found;
}
