import { expect, test } from "vitest";
import type { Publication } from "#src/publishing/publication.ts";
import { toPostFields } from "./post-steps.ts";

test.each([
  [
    "日本 https://ja.wikipedia.org/wiki/日本 を見る",
    "https://ja.wikipedia.org/wiki/%E6%97%A5%E6%9C%AC",
  ],
  ["https://example.com#section here", "https://example.com/#section"],
  ["see https://example.com/path?q=a{b}c.", "https://example.com/path?q=a{b}c"],
  ["https:// then https://example.com/b", "https://example.com/b"],
  ["only example.com", undefined],
])(
  "the link of a Facebook post with the text %j is the whole first address, percent-encoded",
  (text, link) => {
    const publication = { text, media: [] } as unknown as Publication;
    expect(toPostFields(publication, {}).link).toBe(link);
  },
);
