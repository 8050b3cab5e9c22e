import { measureCpuMs } from "@postrider/shared/testing/hostile-texts";
import { expect, test } from "vitest";
import { hashContent } from "./task.ts";

const content = { text: "One  two\n", title: undefined, mediaIds: ["a", "b"] };

test("white space and Unicode composition do not change the hash of a post's content", () => {
  expect(hashContent({ ...content, text: " One two" })).toBe(hashContent(content));
  expect(hashContent({ ...content, text: "e\u0301" })).toBe(hashContent({ ...content, text: "é" }));
});

test("the text, the title, the media and the order of the media change the hash of a post's content", () => {
  const others = [
    { ...content, text: "one two" },
    { ...content, title: "title" },
    { ...content, mediaIds: ["b", "a"] },
    { ...content, mediaIds: ["a"] },
  ];
  expect(new Set([content, ...others].map(hashContent)).size).toBe(5);
});

test("the hash of a post of the maximum length takes processor time that is linear in its length, also with combining marks", async () => {
  const text = "\u0f73".repeat(63_206);
  expect(await measureCpuMs(() => hashContent({ ...content, text }))).toBeLessThan(500);
  expect(hashContent({ ...content, text })).toBe(hashContent({ ...content, text: ` ${text}` }));
});
