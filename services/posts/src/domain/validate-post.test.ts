import { expect, test } from "vitest";
import type { PostAccount, PostContent, PostMedia } from "./post.ts";
import { validatePost, type PostReferences } from "./validate-post.ts";

const X = "0198c2f0-0000-7000-8000-00000000000a";
const TELEGRAM = "0198c2f0-0000-7000-8000-00000000000b";
const YOUTUBE = "0198c2f0-0000-7000-8000-00000000000c";
const UNKNOWN = "0198c2f0-0000-7000-8000-00000000000d";
const IMAGE = "0198c2f0-0000-7000-8000-0000000000aa";

const account = (id: string, platform: PostAccount["platform"]): PostAccount => ({
  id,
  platform,
  username: "ada",
  status: "active",
  traits: {},
});

const image: PostMedia = {
  id: IMAGE,
  isReady: true,
  kind: "image",
  contentType: "image/png",
  bytes: 1000,
  width: 100,
  height: 100,
  durationMs: null,
  frames: 1,
  altText: null,
};

const known: PostReferences = {
  accounts: new Map([
    [X, account(X, "x")],
    [TELEGRAM, account(TELEGRAM, "telegram")],
    [YOUTUBE, account(YOUTUBE, "youtube")],
  ]),
  media: new Map([[IMAGE, image]]),
  available: new Set(["x", "telegram", "youtube"]),
};

/** Runs all steps of `validatePost`. */
function violationsOf(post: PostContent, references: PostReferences) {
  const steps = validatePost(post, references);
  let step = steps.next();
  while (step.done !== true) step = steps.next();
  return step.value;
}

const input = (change: Partial<PostContent>): PostContent => ({
  content: "hello",
  accountIds: [X],
  mediaIds: [],
  options: {},
  ...change,
});

test("a post that every platform accepts has no violation", () => {
  const options = { x: { content: "short" }, [TELEGRAM]: { content: "longer" } };

  expect(
    violationsOf(input({ accountIds: [X, TELEGRAM], mediaIds: [IMAGE], options }), known),
  ).toEqual([]);
});

test("validatePost reports all violations of a post at once, each with the path of the invalid value", () => {
  const violations = violationsOf(
    input({
      content: "a".repeat(281),
      accountIds: [X, UNKNOWN, TELEGRAM],
      mediaIds: [UNKNOWN],
      options: { "a/b~c": { title: "lost" } },
    }),
    {
      ...known,
      accounts: new Map([
        [X, { ...account(X, "x"), status: "reconnect_required" }],
        [TELEGRAM, account(TELEGRAM, "telegram")],
      ]),
      available: new Set(["x"]),
    },
  );

  expect(violations).toEqual([
    { code: "account_reconnect_required", path: "/accountIds/0", accountId: X, platform: "x" },
    { code: "unknown_account", path: "/accountIds/1", accountId: UNKNOWN },
    {
      code: "platform_unavailable",
      path: "/accountIds/2",
      accountId: TELEGRAM,
      platform: "telegram",
    },
    { code: "unknown_media", path: "/mediaIds/0" },
    { code: "unknown_option_key", path: "/options/a~1b~0c" },
    {
      code: "content_too_long",
      path: "/content",
      accountId: X,
      platform: "x",
      limit: 280,
      actual: 281,
      unit: "weighted_characters",
    },
  ]);
});

test("the path of a violation in an option of a post points to that option", () => {
  const options = { x: { content: "a".repeat(300) }, [TELEGRAM]: { title: "no titles there" } };
  const violations = violationsOf(input({ accountIds: [X, TELEGRAM], options }), known);

  expect(violations.map(({ code, path }) => ({ code, path }))).toEqual([
    { code: "content_too_long", path: "/options/x/content" },
    { code: "title_unsupported", path: `/options/${TELEGRAM}/title` },
  ]);
});

test("the path of a violation of a tag points to the tag", () => {
  const post = input({ accountIds: [YOUTUBE], options: { youtube: { tags: ["fine", " "] } } });
  expect(violationsOf(post, known)).toContainEqual(
    expect.objectContaining({ code: "tag_blank", path: "/options/youtube/tags/1" }),
  );
});

test("the path of the violation for a missing field of a post points to the place where the field can be added", () => {
  const violations = violationsOf(input({ accountIds: [YOUTUBE] }), known);

  expect(violations.map(({ code, path }) => ({ code, path }))).toEqual([
    { code: "title_required", path: "/options/youtube/title" },
    { code: "media_required", path: "/mediaIds" },
  ]);
});

test("validatePost reports media that are not ready, and then checks no media rules of platforms", () => {
  const media = new Map([[IMAGE, { ...image, isReady: false }]]);
  const violations = violationsOf(input({ content: "", mediaIds: [IMAGE] }), { ...known, media });

  expect(violations).toEqual([{ code: "media_not_ready", path: "/mediaIds/0" }]);
});

test("validatePost reports a post option for a platform on which the post has no account", () => {
  expect(violationsOf(input({ options: { bluesky: {}, constructor: {} } }), known)).toEqual([
    { code: "unknown_option_key", path: "/options/bluesky" },
    { code: "unknown_option_key", path: "/options/constructor" },
  ]);
});

test("the violation of a media item lists the media types that the platform accepts", () => {
  const animation = { ...image, contentType: "image/webp", frames: 2 };
  const media = new Map([[image.id, animation]]);
  const violations = violationsOf(
    { content: "", accountIds: ["x-1"], mediaIds: [image.id], options: {} },
    { ...known, accounts: new Map([["x-1", account("x-1", "x")]]), media },
  );
  expect(violations).toEqual([
    {
      code: "media_type_unsupported",
      path: "/mediaIds/0",
      accountId: "x-1",
      platform: "x",
      allowed: ["image/gif; image/jpeg, image/png, image/webp (1 frame)"],
    },
  ]);
});
