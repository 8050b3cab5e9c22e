import { expect, test } from "vitest";
import { createFacets, findMentions } from "./facets.ts";

const features = (text: string, dids: ReadonlyMap<string, string> = new Map()) =>
  createFacets(text, dids).map(({ index, features: [feature] }) => [
    Buffer.from(text, "utf8").subarray(index.byteStart, index.byteEnd).toString("utf8"),
    feature?.uri ?? feature?.tag ?? feature?.did,
  ]);

test("links, tags and mentions are found with byte offsets, also behind emoji", () => {
  const text = "🎉 hi https://example.com/a?b=1. and #tag @alice.test (https://x.org/z)";
  expect(features(text, new Map([["alice.test", "did:plc:1"]]))).toEqual([
    ["https://example.com/a?b=1", "https://example.com/a?b=1"],
    ["#tag", "tag"],
    ["@alice.test", "did:plc:1"],
    ["https://x.org/z", "https://x.org/z"],
  ]);
});

test("a mention that does not resolve stays plain text", () => {
  expect(findMentions("ask @bob.example.com").map(({ handle }) => handle)).toEqual([
    "bob.example.com",
  ]);
  expect(features("ask @bob.example.com")).toEqual([]);
});

test("numbers, lone signs and words with a sign inside are no tags; punctuation at the end does not belong to one", () => {
  expect(features("#1 # a#b #ok! #日本語")).toEqual([
    ["#ok", "ok"],
    ["#日本語", "日本語"],
  ]);
});
