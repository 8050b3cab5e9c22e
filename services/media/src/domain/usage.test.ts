import { expect, test } from "vitest";
import { blocksDeletion } from "./usage.ts";

test.each([
  { post: "is not found", seen: undefined, postVersion: 1, young: true, old: false },
  { post: "uses it", seen: { uses: true, version: 3 }, postVersion: 1, young: true, old: true },
  {
    post: "no longer uses it",
    seen: { uses: false, version: 3 },
    postVersion: 3,
    young: false,
    old: false,
  },
  {
    post: "may be about to use it",
    seen: { uses: false, version: 3 },
    postVersion: 4,
    young: true,
    old: false,
  },
])("a post that $post blocks: young $young, old $old", ({ seen, postVersion, young, old }) => {
  expect(blocksDeletion({ postId: "p", postVersion, isYoung: true }, seen)).toBe(young);
  expect(blocksDeletion({ postId: "p", postVersion, isYoung: false }, seen)).toBe(old);
});
