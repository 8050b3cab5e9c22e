import { expect, test } from "vitest";
import { PLATFORMS } from "#src/platforms.ts";
import { findExternalId } from "./permalinks.ts";

test.each([
  ["x", "https://x.com/some_account/status/1850000000000000001?s=20", "1850000000000000001"],
  ["x", "https://twitter.com/i/web/status/7", "7"],
  ["x", "https://x.com/some_account", null],
  ["x", "https://example.com/some_account/status/7", null],
  ["telegram", "https://t.me/c/1234567890/55", "55"],
  ["telegram", "https://t.me/some_channel/55?single", "55"],
  ["bluesky", "https://bsky.app/profile/did:plc:abc/post/3kabcdefgh22x", "3kabcdefgh22x"],
  ["youtube", "https://www.youtube.com/watch?t=1&v=dQw4w9WgXcQ", "dQw4w9WgXcQ"],
  [
    "tiktok",
    "https://www.tiktok.com/@some_account/video/7400000000000000000",
    "7400000000000000000",
  ],
  // The link of an Instagram post contains another id than Instagram's API uses.
  ["instagram", "https://www.instagram.com/p/Cabc123/", null],
  ["facebook", "https://www.facebook.com/some_account/posts/1", null],
  ["facebook", "https://www.facebook.com/100064", null],
  ["facebook", "https://www.facebook.com/100064_122", "100064_122"],
  ["facebook", "https://www.facebook.com/reel/7400000000000000000/", "7400000000000000000"],
  ["facebook", "https://www.facebook.com/some.account/videos/74", "74"],
] as const)("on %s, the post id in the link %s is %s", (platform, link, id) => {
  expect(findExternalId(PLATFORMS[platform].links, new URL(link))).toBe(id);
});
