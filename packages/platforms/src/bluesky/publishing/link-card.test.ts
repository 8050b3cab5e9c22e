import { expect, test } from "vitest";
import { toCard } from "./link-card.ts";

const URI = "https://harbour.example.com/ships";

test.each([
  [
    "the title and the description that its meta elements give for cards",
    '<title>No</title><meta property="og:title" content="Ships &amp; boats"><meta content=\'Of the "harbour"\' property=og:description>',
    "Ships & boats",
    'Of the "harbour"',
  ],
  [
    "the title and the description of the page",
    '<TITLE>\n Ships \n &#127754;&#x2014; </TITLE><META NAME="Description" CONTENT="All of them">',
    "Ships 🌊—",
    "All of them",
  ],
  [
    "its host as the title if the page has neither title nor description",
    "<p>Hello</p>",
    "harbour.example.com",
    "",
  ],
  [
    "the first of several titles",
    '<meta name="twitter:title" content="One"><meta name="twitter:title" content="Two">',
    "One",
    "",
  ],
  [
    "a title that is truncated to 300 characters",
    `<title>${"a".repeat(1_000)}</title>`,
    "a".repeat(300),
    "",
  ],
  [
    "its texts without control characters",
    '<title>\0Sh\0ips &#7;&#x1b;[31m</title><meta name="description" content="\0&#127;All\0\0of them">',
    "Sh ips [31m",
    "All of them",
  ],
  [
    "entities that are not characters unchanged",
    "<title>&#0;&#xffffff;&nope;</title>",
    "&#0;&#xffffff;&nope;",
    "",
  ],
])("the link card of a web page shows %s", (_, html, title, description) => {
  expect(toCard(URI, html)).toEqual({ uri: URI, title, description });
});

test.each([
  ["elements that never end", "<meta ".repeat(40_000)],
  ["titles that never end", "<title>".repeat(30_000)],
  ["an element with one long name", `<meta ${"a".repeat(3_900)}>`.repeat(60)],
  ["an element with many quotes", `<meta a="${"'".repeat(3_900)}>`.repeat(60)],
  ["an element with many assignments", `<meta ${"a=".repeat(1_900)}>`.repeat(60)],
  ["many spaces", `<meta a${" ".repeat(3_900)}>`.repeat(60)],
])("the parser of link cards reads a web page with %s in less than two seconds", (_, html) => {
  const startedAt = performance.now();
  toCard(URI, html);
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});
