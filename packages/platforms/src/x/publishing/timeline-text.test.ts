import { expect, test } from "vitest";
import { compareSent, compareShown, linksToMedia, normalizeUrl } from "./timeline-text.ts";

test("a text that was sent to X matches the same text with short links in the timeline of X", () => {
  const sent = "Look:  https://Example.com/A/ &  more";
  const shown = "Look: https://t.co/abc &amp; more https://t.co/media";
  expect(
    compareShown(shown, [
      { url: "https://t.co/abc", expandedUrl: "http://example.com/A", isMedia: false },
      {
        url: "https://t.co/media",
        expandedUrl: "https://x.com/me/status/1/photo/1",
        isMedia: true,
      },
    ]),
  ).toEqual(compareSent(sent));
});

test.each([
  ["a < b & c > d", "a &lt; b &amp; c &gt; d"],
  ["write &lt; or &amp;lt;", "write &amp;lt; or &amp;amp;lt;"],
])("the text %j that was sent to X matches the text %j in the timeline of X", (sent, shown) => {
  expect(compareShown(shown, [])).toEqual(compareSent(sent));
});

test("a link to media on X that was sent matches the same link in the timeline of X, whether X marks it as media or not", () => {
  const url = "https://x.com/me/status/12/video/1";
  const sent = compareSent(`watch ${url}`);
  for (const isMedia of [true, false])
    expect(
      compareShown("watch https://t.co/1", [{ url: "https://t.co/1", expandedUrl: url, isMedia }]),
    ).toEqual(sent);
  expect(linksToMedia(`watch ${url}`)).toBe(true);
  expect(linksToMedia("watch https://x.com/me/status/12")).toBe(false);
});

test("two post texts that differ in one link have equal skeletons (texts without links) and different URLs", () => {
  const sent = compareSent("see a.com");
  const shown = compareShown("see https://t.co/1", [
    { url: "https://t.co/1", expandedUrl: "https://b.com", isMedia: false },
  ]);
  expect(shown.skeleton).toBe(sent.skeleton);
  expect(shown.urls).not.toEqual(sent.urls);
});

test.each([
  ["https://Example.COM/", "example.com"],
  ["http://example.com/a/?q=1#top", "example.com/a?q=1"],
  ["example.com?x=/", "example.com?x="],
  ["https://a.b/C", "a.b/C"],
])("normalizeUrl turns %s into %s", (url, expected) => {
  expect(normalizeUrl(url)).toBe(expected);
});
