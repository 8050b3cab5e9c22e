import { expect, test } from "vitest";
import { findLinks, weightedLength } from "#src/x/text.ts";

test.each([
  ["", 0],
  ["hello", 5],
  ["안녕하세요", 10],
  ["👍", 2],
  ["👍🏽", 2],
  ["👨‍👩‍👧‍👦", 2],
  ["🇰🇷", 2],
  ["1️⃣", 2],
  ["e\u0301", 1],
  ["“quoted”", 8],
  ["…", 2],
  ["https://example.com/a/very/long/path?with=a&query=string", 23],
  ["see example.com.", 28],
  ["http://a.b and https://foo.invalid", 34],
  ["user@example.com", 16],
  ["#tag.com", 8],
  ["example.com입니다", 29],
])("X's weighted length of the text %j is %i", (text, weight) => {
  expect(weightedLength(text)).toBe(weight);
});

test.each([
  ["(https://en.wikipedia.org/wiki/A_(b))", ["https://en.wikipedia.org/wiki/A_(b)"]],
  ["https://example.com, www.x.ai.", ["https://example.com", "www.x.ai"]],
  ["example.com:8080/x?a=1.", ["example.com:8080/x?a=1"]],
  ["👍https://例え.jp/x", ["https://例え.jp/x"]],
  ["한국.com", []],
  ["example.com.notatld", ["example.com"]],
])("findLinks finds in the tweet text %j the links %j", (text, links) => {
  expect(findLinks(text).map((link) => link.url)).toEqual(links);
});

test("findLinks needs less than four seconds of CPU time for a long tweet without a link", () => {
  const before = process.cpuUsage();
  findLinks("a.".repeat(4000));
  findLinks(`https://example.com/${"(".repeat(4000)}`);
  const { user, system } = process.cpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(4000);
});
