import { anyText } from "@postrider/shared/testing/any-text";
import fc from "fast-check";
import twitter from "twitter-text";
import { describe, expect, test } from "vitest";
import { PLATFORM_FACTS } from "#src/registry.ts";
import {
  countText,
  createTextCounter,
  effectiveLimits,
  isFarAbove,
  isWithin,
} from "#src/text/text.ts";
import { findUrls } from "#src/text/urls.ts";

const weighted = (text: string) => countText(text, "weighted");
const urlsOf = (text: string) => findUrls(text).map(({ start, end }) => text.slice(start, end));

/** Emoji that the library twitter-text knows; its list ends with Unicode 11. */
const EMOJI = ["😀", "❤️", "👍🏽", "👨‍👩‍👧‍👦", "🇰🇷", "🏳️‍🌈", "1️⃣", "#⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "©️"];
const PIECES = [
  ...EMOJI,
  ...Array.from("abzAZ09_-. \n@#$/:,!?()[]'\"&=%+~;|*<>{}^\\"),
  ...Array.from("éñßжЖ한日語、。ｶأहि\u0301\u200d\u200b\u2019\u2028\ufe0f＠＃"),
  "com",
  "co.kr",
  "example.com",
  "日本.jp",
  "http://",
  "https://",
  "https://t.co/abc123",
  "/path(a)?q=1",
  "xn--p1ai",
  "museum",
];

/**
 * False for a URL for which twitter-text reports a length that contradicts its position: a path
 * after letters of another script.
 */
const isConsistent = ({ url, indices: [start, end] }: twitter.UrlWithIndices) =>
  url.length === end - start;

/**
 * Random texts without long domain labels, because the two implementations of Punycode could differ
 * on long labels.
 */
const texts = fc
  .array(fc.constantFrom(...PIECES), { maxLength: 30 })
  .map((pieces) => pieces.join(""))
  .filter((text) => text.split(/[.\s@:/]/u).every((label) => label.length <= 24));

describe("weighted length", () => {
  test("the weighted length of a text for X agrees with the library twitter-text on any mixture of letters, emoji, links and punctuation", () => {
    fc.assert(
      fc.property(texts, (text) => {
        fc.pre(twitter.extractUrlsWithIndices(text.normalize()).every(isConsistent));
        expect(weighted(text)).toBe(twitter.parseTweet(text).weightedLength);
      }),
      { numRuns: 3000 },
    );
  });

  test("the weighted length of a text for X agrees with the library twitter-text on any Unicode text without emoji", () => {
    const character = anyText({ minLength: 1, maxLength: 1 }).filter(
      (text) => !/\p{Extended_Pictographic}/u.test(text),
    );
    fc.assert(
      fc.property(fc.array(character, { maxLength: 30 }), (characters) => {
        const text = characters.join("");
        expect(weighted(text)).toBe(twitter.parseTweet(text).weightedLength);
      }),
      { numRuns: 1000 },
    );
  });

  test.each([
    ["https://t.co/abc123,(https://t.co/abc123)", 49],
    ["https://example.com/abc,(abc)", 29],
    ["https://example.com/abc(abc)", 23],
  ])(
    "parentheses after a comma end the URL in the text %j, as in the library twitter-text",
    (text, length) => {
      expect(twitter.parseTweet(text).weightedLength).toBe(length);
      expect(weighted(text)).toBe(length);
    },
  );

  test.each([
    ["", 0],
    ["abc", 3],
    ["안녕", 4],
    ["😀", 2],
    ["👨‍👩‍👧‍👦", 2],
    ["👩🏽‍🚀", 2],
    ["🫠", 2],
    ["🐦‍🔥", 2],
    ["e\u0301", 1],
    ["example.com", 23],
    [`https://example.com/${"a".repeat(200)}`, 23],
    ["see example.com, ok", 31],
    ["someone@example.com", 19],
    ["notes.txt", 9],
  ])("the weighted length of the text %j is %i", (text, length) => {
    expect(weighted(text)).toBe(length);
  });

  test("the weighted length of a text is the same in decomposed and composed form", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        expect(weighted(text.normalize("NFD"))).toBe(weighted(text.normalize("NFC")));
      }),
    );
  });
});

describe("URLs of a text", () => {
  test("findUrls finds the same URLs as twitter-text", () => {
    fc.assert(
      fc.property(texts, (text) => {
        const links = twitter.extractUrlsWithIndices(text);
        fc.pre(links.every(isConsistent));
        expect(urlsOf(text)).toEqual(links.map(({ url }) => url));
      }),
      { numRuns: 3000 },
    );
  });

  test.each([
    ["go to example.com now", ["example.com"]],
    ["日本example.com語", ["example.com"]],
    ["http://日本.jp", ["http://日本.jp"]],
    ["(https://example.com/a_(b))", ["https://example.com/a_(b)"]],
    ["https://t.co/abcd/more", ["https://t.co/abcd"]],
    [`https://t.co/${"a".repeat(41)}`, []],
    ["a.com,b.com", ["a.com", "b.com"]],
    ["example.com:8080/x", ["example.com:8080/x"]],
    ["example.community", ["example.community"]],
    ["@example.com", []],
    ["_example.com", []],
    ["example.com-x", []],
    [`https://${"ü".repeat(63)}.com`, []],
    [`${"a".repeat(63)}.com ${"a".repeat(64)}.com`, [`${"a".repeat(63)}.com`]],
    ["http://ﷺﷺﷺﷺﷺﷺﷺﷺ.com http://ᾀᾀᾀᾀᾀᾀᾀᾀ.com", ["http://ﷺﷺﷺﷺﷺﷺﷺﷺ.com", "http://ᾀᾀᾀᾀᾀᾀᾀᾀ.com"]],
    [`https://example.com/${"a".repeat(4096)}`, []],
  ])("the URLs in the text %j are %j", (text, urls) => {
    expect(urlsOf(text)).toEqual(urls);
  });
});

test("every emoji sequence of Unicode counts 2 on X, whatever its first character is", () => {
  const points = Array.from({ length: 0x20000 }, (_, point) => String.fromCodePoint(point));
  const emoji = points.filter((character) => /^\p{RGI_Emoji}$/v.test(`${character}\ufe0f`));
  expect(emoji.length).toBeGreaterThan(150);
  for (const character of emoji) expect(countText(`${character}\ufe0f`, "weighted")).toBe(2);
  const keycaps = Array.from("#*0123456789", (character) => `${character}\ufe0f\u20e3`);
  for (const keycap of keycaps) expect(countText(keycap, "weighted"), keycap).toBe(2);
});

describe("other units of text length", () => {
  test("countText counts the bytes of UTF-8 and the units of UTF-16", () => {
    expect(countText("aé한😀", "utf8_bytes")).toBe(1 + 2 + 3 + 4);
    expect(countText("aé한😀", "utf16")).toBe(5);
  });

  test.each([
    ["👨‍👩‍👧‍👦", 1],
    ["🇰🇷🇰🇷", 2],
    ["e\u0301", 1],
    ["\r\n", 1],
    ["각", 1],
    ["각", 1],
    ["", 0],
  ])("the text %j consists of %i graphemes", (text, count) => {
    expect(countText(text, "graphemes")).toBe(count);
  });

  test("in every unit of text length, the length of a text without URLs is at most its number of bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (text) => {
        fc.pre(!text.includes("."));
        const bytes = countText(text, "utf8_bytes");
        for (const unit of ["utf16", "graphemes", "weighted"] as const)
          expect(countText(text, unit), unit).toBeLessThanOrEqual(bytes);
      }),
    );
  });

  test("a text that is known without counting to be within a limit, or far above it, is so when it is counted", () => {
    const units = ["utf16", "utf8_bytes", "graphemes", "weighted"] as const;
    const text = fc.string({ unit: "grapheme", maxLength: 60 });
    fc.assert(
      fc.property(text, fc.constantFrom(...units), fc.nat({ max: 100 }), (part, unit, max) => {
        const long = part.repeat(1_000);
        const isWrong =
          (isWithin(part, { unit, max }) && countText(part, unit) > max) ||
          (isFarAbove(long, { unit, max }) && countText(long, unit, max) <= max);
        expect(isWrong).toBe(false);
      }),
      { numRuns: 200 },
    );
    expect(isWithin("x".repeat(300), { unit: "graphemes", max: 300 })).toBe(true);
  });

  test("a text counter that caches lengths returns the same lengths as countText", () => {
    const count = createTextCounter();
    for (const unit of ["utf16", "weighted", "utf8_bytes", "graphemes", "weighted"] as const)
      expect(count("é example.com", unit)).toBe(countText("é example.com", unit));
  });
});

describe("hashtags and mentions", () => {
  test.each([
    ["#one #two", 2],
    ["#한국어#tag", 1],
    ["a#b &#39; # #", 0],
    ["#a #a #a", 3],
    ["(#a)＃b", 2],
  ])("the text %j has %i hashtags", (text, count) => {
    expect(countText(text, "hashtags")).toBe(count);
  });

  test.each([
    ["@a @b.c", 2],
    ["mail me@example.com", 0],
    ["@@a @", 0],
    ["(@a)", 1],
  ])("the text %j has %i mentions", (text, count) => {
    expect(countText(text, "mentions")).toBe(count);
  });
});

describe("the limits that hold for a text", () => {
  test("Telegram's text limit is lower with media than without media", () => {
    expect(effectiveLimits(PLATFORM_FACTS.telegram.rules.text, "none")).toEqual([
      { unit: "utf16", max: 4096 },
    ]);
    expect(effectiveLimits(PLATFORM_FACTS.telegram.rules.text, "image")).toEqual([
      { unit: "utf16", max: 1024 },
    ]);
  });

  test("TikTok's text limit is higher with photos than with a video", () => {
    expect(effectiveLimits(PLATFORM_FACTS.tiktok.rules.text, "video")).toEqual([
      { unit: "utf16", max: 2200 },
    ]);
    expect(effectiveLimits(PLATFORM_FACTS.tiktok.rules.text, "image")).toEqual([
      { unit: "utf16", max: 4000 },
    ]);
  });

  test("Bluesky limits both the graphemes and the bytes of a text", () => {
    expect(effectiveLimits(PLATFORM_FACTS.bluesky.rules.text, "none")).toEqual([
      { unit: "graphemes", max: 300 },
      { unit: "utf8_bytes", max: 3000 },
    ]);
  });
});
