import { expect, test } from "vitest";
import { blocksDeletion } from "./usage.ts";

test.each([
  { post: "does not exist", seen: undefined, postVersion: 1, young: true, old: false },
  {
    post: "uses the media",
    seen: { uses: true, version: 3 },
    postVersion: 1,
    young: true,
    old: true,
  },
  {
    post: "no longer uses the media",
    seen: { uses: false, version: 3 },
    postVersion: 3,
    young: false,
    old: false,
  },
  {
    post: "may be about to use the media",
    seen: { uses: false, version: 3 },
    postVersion: 4,
    young: true,
    old: false,
  },
])(
  "if a post $post, the record that it uses the media blocks their deletion: $young in its first 10 minutes, $old afterwards",
  ({ seen, postVersion, young, old }) => {
    expect(blocksDeletion({ postId: "p", postVersion, isYoung: true }, seen)).toBe(young);
    expect(blocksDeletion({ postId: "p", postVersion, isYoung: false }, seen)).toBe(old);
  },
);
