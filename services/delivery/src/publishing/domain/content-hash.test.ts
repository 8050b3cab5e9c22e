import { expect, test } from "vitest";
import { hashContent } from "./content-hash.ts";

const content = { text: "One  two\n", title: undefined, mediaIds: ["a", "b"] };

test("white space and composition do not make a difference to a reader", () => {
  expect(hashContent({ ...content, text: " One two" })).toBe(hashContent(content));
  expect(hashContent({ ...content, text: "e\u0301" })).toBe(hashContent({ ...content, text: "é" }));
});

test("text, title, media and their order do", () => {
  const others = [
    { ...content, text: "one two" },
    { ...content, title: "title" },
    { ...content, mediaIds: ["b", "a"] },
    { ...content, mediaIds: ["a"] },
  ];
  expect(new Set([content, ...others].map(hashContent)).size).toBe(5);
});
