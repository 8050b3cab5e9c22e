import { anyText } from "@postrider/shared/testing/any-text";
import { createHostileTexts, measureCpuMs } from "@postrider/shared/testing/hostile-texts";
import fc from "fast-check";
import { expect, test } from "vitest";
import { createFacets, findFirstLink, findMentions } from "#src/bluesky/publishing/facets.ts";
import { compareSent, compareShown, normalizeUrl } from "#src/x/publishing/timeline-text.ts";
import { composeText, findLongMarkRun, MAX_MARKS, normalizeText } from "./normalize-text.ts";
import { countText } from "./text.ts";

/**
 * Size in bytes of the largest text of a request, and of a smaller text that is large enough to
 * show a quadratic run time.
 */
const LARGEST = 256 * 1024;
const LARGE = 64 * 1024;

test("composeText returns the Unicode form NFC of every text in which no run of combining marks is too long to be published", () => {
  fc.assert(
    fc.property(anyText(), (text) => {
      fc.pre(findLongMarkRun(text) === 0);
      expect(composeText(text)).toBe(text.normalize("NFC"));
    }),
  );
  const marks = "\u0316\u0301".repeat(MAX_MARKS / 2);
  expect(composeText(`e${marks}e\u0301`)).toBe(`e${marks}e\u0301`.normalize("NFC"));
});

test.each([
  ["no mark", "hello", 0],
  [
    "as many marks as are allowed",
    `a${"\u0301".repeat(MAX_MARKS)}b${"\u0301".repeat(MAX_MARKS)}`,
    0,
  ],
  ["one mark too many", `a${"\u0301".repeat(MAX_MARKS + 1)}`, MAX_MARKS + 1],
  ["a long run after a short one", `e\u0301a${"\u0f73".repeat(50_000)}`, 50_000],
  ["a long run of letters that combine like marks", "\u{16d67}".repeat(40), 40],
])("findLongMarkRun counts the marks of a text with %s", (_name, text, count) => {
  expect(findLongMarkRun(text)).toBe(count);
});

test("composeText joins letters with their accents even in a text with too long a run of combining marks, and is idempotent", () => {
  const run = "\u0301\u0316".repeat(100);
  expect(composeText(run)).toBe(composeText(composeText(run)));
  expect(composeText(`${run}e\u0301`)).toContain("é");
});

const ON_REQUESTS = {
  "the weighted length": (text: string) => countText(text, "weighted"),
  "the length in graphemes": (text: string) => countText(text, "graphemes"),
  "the number of hashtags": (text: string) => countText(text, "hashtags"),
  "the number of mentions": (text: string) => countText(text, "mentions"),
  "the search for runs of marks": findLongMarkRun,
  "the composed form": composeText,
  "the comparison of texts": normalizeText,
  "the comparison with texts on X": compareSent,
  "the comparison with texts that X shows": (text: string) => compareShown(text, []),
  "the comparison of links": normalizeUrl,
};

test.each(Object.entries(ON_REQUESTS))(
  "%s takes processor time that is linear in the length of the text",
  async (_name, run) => {
    // The first text compiles patterns, which takes the same time for each length.
    run("👨‍👩‍👧‍👦\u0301");
    const random = createHostileTexts(LARGE, { mixtures: 40 });
    for (const text of random)
      expect(await measureCpuMs(() => run(text)), text.slice(0, 40)).toBeLessThan(250);
    for (const piece of ["\u0f73", "a.co ", "👨‍👩‍👧‍👦"]) {
      const text = piece.repeat(LARGEST / Buffer.byteLength(piece));
      expect(await measureCpuMs(() => run(text)), piece).toBeLessThan(1500);
    }
  },
);

const ON_BLUESKY_POSTS = {
  "the links, tags and mentions": (text: string) => createFacets(text, new Map()),
  "the first link": findFirstLink,
  "the mentions": findMentions,
};

test.each(Object.entries(ON_BLUESKY_POSTS))(
  "%s of the longest text for Bluesky are found in a few milliseconds of processor time",
  async (_name, run) => {
    for (const text of createHostileTexts(3000, { mixtures: 200 }))
      expect(await measureCpuMs(() => run(text)), text.slice(0, 40)).toBeLessThan(100);
  },
);

test("finding a tag with a long run of punctuation takes processor time that is linear in the tag's length", async () => {
  const text = `#a${"_.".repeat(LARGEST / 2)}\0`;
  expect(await measureCpuMs(() => createFacets(text, new Map()))).toBeLessThan(1000);
});
