import { anyText } from "@postrider/shared/testing/any-text";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createCommentMatcher, type CommentMatch, type RuleWords } from "./match-comment.ts";
import { foldText } from "./text.ts";
import { WordAutomaton } from "./word-automaton.ts";

const WORD_CHARACTER =
  /[[\p{L}\p{M}\p{N}\p{Pc}]--[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Bopo}\p{sc=Thai}\p{sc=Laoo}\p{sc=Khmr}\p{sc=Mymr}]]/v;

/** Whether each UTF-16 unit of a text is a part of a word character. */
function wordUnits(text: string): readonly boolean[] {
  return Array.from(text).flatMap((character) =>
    Array<boolean>(character.length).fill(WORD_CHARACTER.test(character)),
  );
}

function hasWord(comment: string, word: string): boolean {
  const keyword = foldText(word);
  if (keyword === "") return false;
  const inText = wordUnits(comment);
  const inWord = wordUnits(keyword);
  for (let at = comment.indexOf(keyword); at !== -1; at = comment.indexOf(keyword, at + 1)) {
    const isStart = inWord[0] !== true || inText[at - 1] !== true;
    const isEnd = inWord.at(-1) !== true || inText[at + keyword.length] !== true;
    if (isStart && isEnd) return true;
  }
  return false;
}

/** Searches a comment for each word of a rule separately, which is slow and plainly right. */
function matchOneByOne(rule: RuleWords, text: string): CommentMatch {
  const comment = foldText(text);
  const has = (word: string) => hasWord(comment, word);
  const isFound = {
    any: () => rule.keywords.some(has),
    all: () => rule.keywords.every(has),
    exact: () => rule.keywords.some((word) => foldText(word) === comment),
  }[rule.match]();
  if (!isFound) return "no_match";
  return rule.excludeKeywords.some(has) ? "excluded" : "match";
}

/**
 * Texts of few characters, so that words occur inside each other, beside word boundaries, and
 * across them.
 */
const tangled = fc.string({
  unit: fc.constantFrom(
    "a",
    "b",
    "A",
    " ",
    "!",
    "링",
    "크",
    "𐐨",
    "🔥",
    "\u0301",
    "ß",
    "ﬃ",
    "\ufdfa",
  ),
  maxLength: 12,
});
const anyWord = fc.oneof(tangled, anyText({ maxLength: 6 }));

test("the automaton of many rules finds the same comments as searching for each word of each rule", () => {
  const words = fc.array(anyWord, { maxLength: 5 });
  const rule: fc.Arbitrary<RuleWords> = fc.record({
    keywords: words,
    match: fc.constantFrom("any", "all", "exact"),
    excludeKeywords: words,
  });
  const comment = fc.array(anyWord, { maxLength: 8 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 6 }), fc.array(comment), (rules, comments) => {
      const { match: matchAll } = createCommentMatcher(rules);
      for (const text of comments)
        expect(matchAll(text)).toEqual(rules.map((words) => matchOneByOne(words, text)));
    }),
    { numRuns: 2_000 },
  );
});

const IDEOGRAPHS = { first: 0x4e_00, count: 20_000 };

/**
 * Words of a workspace that can compute where the edges of the automaton are stored: with the hash
 * that it had before, all of them begin at neighbouring places.
 */
function crowdedWords(count: number, length: number): readonly string[] {
  const mask = 2 ** Math.ceil(Math.log2(2 * (count * length + 1))) - 1;
  const placeOf = (state: number, unit: number): number => {
    const mixed = Math.imul(state, 0x9e_37_79_b1) ^ Math.imul(unit + 1, 0x85_eb_ca_6b);
    const hash = Math.imul(mixed ^ (mixed >>> 15), 0x2c_1b_3c_6d);
    return (hash ^ (hash >>> 13)) & mask;
  };
  const words = Array.from({ length: count }, () => ({ text: "", state: 0 }));
  const begins = new Set<number>();
  let states = 0;
  const isCrowded = (state: number, unit: number): boolean =>
    placeOf(state, unit) <= 300 && (state !== 0 || !begins.has(unit));
  const choose = (state: number): number => {
    let unit = IDEOGRAPHS.first;
    for (; !isCrowded(state, unit); unit += 1);
    begins.add(unit);
    return unit;
  };
  for (let index = 0; index < length; index += 1)
    for (const word of words) {
      word.text += String.fromCharCode(choose(word.state));
      states += 1;
      word.state = states;
    }
  return words.map(({ text }) => text);
}

function measureBuild(words: readonly string[]): number {
  const before = process.threadCpuUsage();
  const building = WordAutomaton.build(words);
  while (building.next().done !== true);
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

test("keywords that were chosen to crowd the table of the automaton cost no more than others", () => {
  const crowded = crowdedWords(200, 100);
  const others = crowded.map((word, index) =>
    Array.from(word, (_, at) =>
      String.fromCharCode(IDEOGRAPHS.first + ((index * 7919 + at * 104_729) % IDEOGRAPHS.count)),
    ).join(""),
  );
  measureBuild(others);
  expect(measureBuild(crowded)).toBeLessThan(10 * Math.max(10, measureBuild(others)));
});
