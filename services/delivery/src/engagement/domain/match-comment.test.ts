import { anyText } from "@postrider/shared/testing/any-text";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createCommentMatcher, type MatchMode } from "./match-comment.ts";
import { foldText } from "./text.ts";

function match(
  text: string,
  keywords: readonly string[],
  {
    match: mode = "any",
    excludeKeywords = [],
  }: { match?: MatchMode; excludeKeywords?: readonly string[] } = {},
) {
  return createCommentMatcher([{ keywords, match: mode, excludeKeywords }]).match(text)[0];
}

describe("a keyword that is the whole comment is found although the spelling differs:", () => {
  test.each([
    ["upper and lower case", "LINK", "link"],
    ["the sharp s and its capital", "STRASSE", "straße"],
    ["the capital sharp s", "STRAẞE", "strasse"],
    ["the final sigma", "ΟΔΟΣ", "οδος"],
    ["a sigma that is not final in the keyword", "ΟΔΟΣ", "οδοσ"],
    ["the dotted capital I and its folding", "İSTANBUL", "i̇stanbul"],
    ["a ligature", "OFFICE", "oﬃce"],
    ["full-width letters", "ｌｉｎｋ", "LINK"],
    ["half-width Katakana", "ﾘﾝｸ", "リンク"],
    ["half-width Katakana with a voicing mark", "ｶﾞｲﾄﾞ", "ガイド"],
    ["decomposed accents", "café", "CAFÉ"],
    ["decomposed Hangul", "링크".normalize("NFD"), "링크"],
    ["the long s", "ſale", "SALE"],
    ["the Kelvin sign", "K", "k"],
    ["Greek with an iota subscript", "ᾳ", "ΑΙ"],
    ["Greek accents in another order", "ᾴ", "ᾴ"],
    ["Cyrillic", "ССЫЛКА", "ссылка"],
    ["Cherokee", "Ꮳ", "ꮳ"],
    ["Deseret, which lies outside the basic plane", "𐐀", "𐐨"],
    ["a circled digit", "①", "1"],
    ["runs of white space inside a phrase", "free  \n guide", "FREE GUIDE"],
    ["a space that does not break", "free guide", "free guide"],
  ])("%s: the comment %j matches the keyword %j", (_, comment, keyword) => {
    expect(match(comment, [keyword], { match: "exact" })).toBe("match");
    expect(match(`! ${comment} !`, [keyword])).toBe("match");
  });
});

test("a comment with a dotless ı does not match a keyword with i, as Unicode's case folding says", () => {
  expect(match("ısı", ["isi"])).toBe("no_match");
  expect(match("ISI", ["isi"])).toBe("match");
});

describe("a keyword is found as a whole word or next to scripts without spaces:", () => {
  test.each([
    ["a word between spaces", "the link please", "link", "match"],
    ["a word at the start and at the end", "link", "link", "match"],
    ["a word before punctuation", "link!!", "link", "match"],
    ["a hashtag", "#link", "link", "match"],
    ["a word in quotes", "“Link”", "link", "match"],
    ["the start of a longer word", "linked", "link", "no_match"],
    ["the end of a longer word", "hyperlink", "link", "no_match"],
    ["a later occurrence that is a whole word", "linked link", "link", "match"],
    ["a digit before it", "2link", "link", "no_match"],
    ["a number inside a longer number", "100", "10", "no_match"],
    ["an underscore beside it", "link_in_bio", "link", "no_match"],
    ["a letter outside the basic plane before it", "𐐨link", "link", "no_match"],
    ["a letter outside the basic plane after it", "link𐐨", "link", "no_match"],
    ["a combining mark after it", "x̂", "x", "no_match"],
    ["Cyrillic letters around it", "ссылками", "ссылка", "no_match"],
    ["an Arabic word with a prefix", "والرابط", "الرابط", "no_match"],
    ["an Arabic word alone", "أريد الرابط", "الرابط", "match"],
    ["a Devanagari vowel sign after it", "नमस्ते", "नमस्त", "no_match"],
    ["Hangul directly after Latin", "link주세요", "link", "match"],
    ["a Hangul word with a particle", "링크를 주세요", "링크", "match"],
    ["Hangul inside Hangul", "프로필링크주세요", "링크", "match"],
    ["Latin directly after a Hangul keyword", "링크please", "링크", "match"],
    ["Han inside Han", "请给我链接谢谢", "链接", "match"],
    ["Hiragana around Han", "この資料をください", "資料", "match"],
    ["Katakana inside Katakana", "フリーリンクス", "リンク", "match"],
    ["the long vowel mark before Latin", "データlink", "link", "match"],
    ["Latin directly before Han", "要link的", "link", "match"],
    ["Thai inside Thai", "ขอลิงก์หน่อย", "ลิงก์", "match"],
    ["Latin inside Latin although Han is near", "資料linked", "link", "no_match"],
    ["a digit before a Hangul counter", "1등", "1", "match"],
    ["an emoji", "I want it🔥🔥", "🔥", "match"],
    ["a keyword that ends with a symbol", "I love c++11", "c++", "match"],
    ["a keyword that begins with a symbol", "take#link", "#link", "match"],
    ["a phrase", "please send the free guide now", "free guide", "match"],
    ["half of a phrase", "please send the free now", "free guide", "no_match"],
    ["an empty comment", "", "link", "no_match"],
  ])("%s: the comment %j, the keyword %j, the result %s", (_, comment, keyword, expected) => {
    expect(match(comment, [keyword])).toBe(expected);
  });
});

describe("the mode of a rule", () => {
  test.each([
    ["any", "send the guide", "match"],
    ["any", "send it", "no_match"],
    ["all", "the link and the guide", "match"],
    ["all", "send the guide", "no_match"],
    ["exact", "  Guide ", "match"],
    ["exact", "the guide", "no_match"],
    ["exact", "guide!", "no_match"],
  ] as const)("the mode %s decides about the comment %j: %s", (mode, comment, expected) => {
    expect(match(comment, ["link", "guide"], { match: mode })).toBe(expected);
  });
});

test("an excluded word excludes comments that have the keywords and contain it as a whole word", () => {
  const words = { match: "any", excludeKeywords: ["spam", "ｂｏｔ"] } as const;
  expect(match("link spam", ["link"], words)).toBe("excluded");
  expect(match("link BOT", ["link"], words)).toBe("excluded");
  expect(match("link bottle", ["link"], words)).toBe("match");
  expect(match("spam", ["link"], words)).toBe("no_match");
  expect(match("link", ["link"], { match: "exact", excludeKeywords: ["link"] })).toBe("excluded");
});

const shortText = anyText({ maxLength: 40 });

test("folding the case of a text twice gives the same text as folding it once", () => {
  fc.assert(
    fc.property(shortText, (text) => {
      expect(foldText(foldText(text))).toBe(foldText(text));
    }),
  );
});

test("upper case, compatibility forms and decomposition never change what a comment matches", () => {
  const variants = fc.constantFrom(
    (text: string) => text.replaceAll("ı", "i").toUpperCase(),
    (text: string) => text.normalize("NFKC"),
    (text: string) => text.normalize("NFD"),
  );
  fc.assert(
    fc.property(shortText, variants, (text, change) => {
      const plain = text.replaceAll("ı", "i");
      expect(foldText(change(plain))).toBe(foldText(plain));
    }),
  );
});

test("every two characters that a case-insensitive regular expression considers equal fold to the same text", () => {
  const apart: string[] = [];
  for (let code = 0; code <= 0x10_ff_ff; code++) {
    if (code >= 0xd8_00 && code <= 0xdf_ff) continue;
    const character = String.fromCodePoint(code);
    for (const other of new Set([character.toLowerCase(), character.toUpperCase()])) {
      if (other === character || !new RegExp(`^\\u{${code.toString(16)}}$`, "iu").test(other))
        continue;
      if (foldText(character) !== foldText(other)) apart.push(`${character} ${other}`);
    }
  }
  expect(apart).toEqual([]);
});

test("a keyword between spaces is always found, and a keyword between Latin letters is never found", () => {
  const keyword = fc.stringMatching(/^[a-zäöüßéα-ω0-9]{1,8}$/);
  fc.assert(
    fc.property(keyword, (word) => {
      expect(match(`… ${word} …`, [word])).toBe("match");
      expect(match(`q${word}q`, [word])).toBe("no_match");
    }),
  );
});

test("the mode all matches a comment only if it has every keyword, and the mode any if it has at least one", () => {
  const word = fc.stringMatching(/^[가-힣a-c]{1,3}$/);
  fc.assert(
    fc.property(
      fc.array(word, { minLength: 1, maxLength: 4 }),
      fc.array(word, { maxLength: 8 }),
      (keywords, words) => {
        const text = words.join(" ");
        const single = keywords.map((keyword) => match(text, [keyword]) === "match");
        const isFound = (is: boolean) => (is ? "match" : "no_match");
        expect(match(text, keywords)).toBe(isFound(single.includes(true)));
        expect(match(text, keywords, { match: "all" })).toBe(isFound(!single.includes(false)));
      },
    ),
  );
});

test("a keyword is found in the whole of the longest comment of Facebook, also in Hangul", () => {
  expect(match(`${"가 ".repeat(3_997)} link`, ["link"])).toBe("match");
  expect(match(`${"가".repeat(7_995)} 링크`, ["링크"])).toBe("match");
});

test("a comment whose characters stand for many others is compared up to a limit, and never ends in a word that is cut there", () => {
  const long = `link ${"\ufdfa".repeat(8_000)}`;
  expect(match(long, ["link"])).toBe("match");
  expect(match(`${long} guide`, ["guide"])).toBe("no_match");
  for (let shift = 0; shift < 20; shift++) {
    const words = `${"x".repeat(shift)} ${"ab".repeat(40_000)}`;
    expect(
      match(
        words,
        Array.from({ length: 40 }, (_, size) => "ab".repeat(size + 1)),
      ),
    ).toBe("no_match");
  }
});
