import { expect, test } from "vitest";
import { toCard } from "./link-card.ts";

const URI = "https://harbour.example.com/ships";

test.each([
  [
    "what it says for cards",
    '<title>No</title><meta property="og:title" content="Ships &amp; boats"><meta content=\'Of the "harbour"\' property=og:description>',
    "Ships & boats",
    'Of the "harbour"',
  ],
  [
    "its title and description",
    '<TITLE>\n Ships \n &#127754;&#x2014; </TITLE><META NAME="Description" CONTENT="All of them">',
    "Ships 🌊—",
    "All of them",
  ],
  ["its host, when it says nothing", "<p>Hello</p>", "harbour.example.com", ""],
  [
    "the first of several",
    '<meta name="twitter:title" content="One"><meta name="twitter:title" content="Two">',
    "One",
    "",
  ],
  ["no more than fits", `<title>${"a".repeat(1_000)}</title>`, "a".repeat(300), ""],
  [
    "what is no character as it is",
    "<title>&#0;&#xffffff;&nope;</title>",
    "&#0;&#xffffff;&nope;",
    "",
  ],
])("the card of a page has %s", (_, html, title, description) => {
  expect(toCard(URI, html)).toEqual({ uri: URI, title, description });
});

test.each([
  ["tags that never end", "<meta ".repeat(40_000)],
  ["titles that never end", "<title>".repeat(30_000)],
  ["a tag of names", `<meta ${"a".repeat(3_900)}>`.repeat(60)],
  ["a tag of quotes", `<meta a="${"'".repeat(3_900)}>`.repeat(60)],
  ["a tag of assignments", `<meta ${"a=".repeat(1_900)}>`.repeat(60)],
  ["spaces", `<meta a${" ".repeat(3_900)}>`.repeat(60)],
])("a page of %s keeps nobody busy", (_, html) => {
  const startedAt = performance.now();
  toCard(URI, html);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
