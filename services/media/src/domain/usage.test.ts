import { expect, test } from "vitest";
import { blocksDeletion } from "./usage.ts";

test.each([
  {
    post: "does not exist",
    period: "for 10 minutes only",
    seen: undefined,
    postVersion: 1,
    young: true,
    old: false,
  },
  {
    post: "uses the media",
    period: "always",
    seen: { uses: true, version: 3 },
    postVersion: 1,
    young: true,
    old: true,
  },
  {
    post: "no longer uses the media",
    period: "at no time",
    seen: { uses: false, version: 3 },
    postVersion: 3,
    young: false,
    old: false,
  },
  {
    post: "may be about to use the media",
    period: "for 10 minutes only",
    seen: { uses: false, version: 3 },
    postVersion: 4,
    young: true,
    old: false,
  },
])(
  "the record that a post uses media blocks the deletion of the media $period if the post $post",
  ({ seen, postVersion, young, old }) => {
    expect(blocksDeletion({ postId: "p", postVersion, isYoung: true }, seen)).toBe(young);
    expect(blocksDeletion({ postId: "p", postVersion, isYoung: false }, seen)).toBe(old);
  },
);
