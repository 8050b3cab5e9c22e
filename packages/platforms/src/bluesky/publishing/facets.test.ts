import { expect, test } from "vitest";
import { createFacets, findMentions } from "./facets.ts";

const features = (text: string, dids: ReadonlyMap<string, string> = new Map()) =>
  createFacets(text, dids).map(({ index, features: [feature] }) => [
    Buffer.from(text, "utf8").subarray(index.byteStart, index.byteEnd).toString("utf8"),
    feature?.uri ?? feature?.tag ?? feature?.did,
  ]);

test("the facets of links, tags and mentions in a Bluesky text have correct byte offsets, even after emoji", () => {
  const text = "🎉 hi https://example.com/a?b=1. and #tag @alice.test (https://x.org/z)";
  expect(features(text, new Map([["alice.test", "did:plc:1"]]))).toEqual([
    ["https://example.com/a?b=1", "https://example.com/a?b=1"],
    ["#tag", "tag"],
    ["@alice.test", "did:plc:1"],
    ["https://x.org/z", "https://x.org/z"],
  ]);
});

test("a mention in a Bluesky text stays plain text when its handle does not resolve to an account", () => {
  expect(findMentions("ask @bob.example.com").map(({ handle }) => handle)).toEqual([
    "bob.example.com",
  ]);
  expect(features("ask @bob.example.com")).toEqual([]);
});

test("`#` with digits only, a lone `#` and a `#` inside a word are not tags in a Bluesky text, and a tag ends before punctuation", () => {
  expect(features("#1 # a#b #ok! #日本語")).toEqual([
    ["#ok", "ok"],
    ["#日本語", "日本語"],
  ]);
});
