import { PLATFORM_IDS } from "@postrider/platforms/registry";
import { createHostileTexts, measureCpuMs } from "@postrider/shared/testing/hostile-texts";
import { expect, test } from "vitest";
import { checkPost } from "./check-post.ts";
import { dueFrom, planTargets } from "./plan-post.ts";
import type { PostAccount, PostContent, PostOptions } from "./post.ts";

const MAX_ACCOUNTS = 100;
/** Maximum size in bytes of the content and the options of a request. */
const MAX_BYTES = 256 * 1024;
/**
 * Size in bytes of a large text. If the work of a check grew faster than the length of the text, the check would take
 * noticeably long.
 */
const LARGE = 64 * 1024;

const ACCOUNTS = new Map(
  Array.from({ length: MAX_ACCOUNTS }, (_, index): readonly [string, PostAccount] => {
    const id = `0198c2f0-0000-7000-8000-${String(index).padStart(12, "0")}`;
    const platform = PLATFORM_IDS[index % PLATFORM_IDS.length] ?? "x";
    return [id, { id, platform, username: "ada", status: "active", traits: {} }];
  }),
);
const KNOWN = { accounts: ACCOUNTS, media: new Map(), available: new Set(PLATFORM_IDS) };

function createPost(content: string, options: PostOptions = {}): PostContent {
  return { content, accountIds: [...ACCOUNTS.keys()], mediaIds: [], options };
}

/** Creates a post in which every account has a text of its own; together they have the maximum size. */
function createPostOfManyTexts(text: string): PostContent {
  const part = text.slice(0, text.length / MAX_ACCOUNTS);
  const options = [...ACCOUNTS.keys()].map((id, index) => [id, { content: `${part}${index}` }]);
  return createPost("", Object.fromEntries(options) as PostOptions);
}

test("checking a post to 100 accounts takes processor time that is linear in the length of its text", async () => {
  for (const text of createHostileTexts(LARGE, { mixtures: 10 })) {
    expect(
      await measureCpuMs(() => checkPost(createPost(text), KNOWN)),
      text.slice(0, 40),
    ).toBeLessThan(500);
  }
});

test("checking a post with 100 texts for 100 accounts takes processor time that is linear in their length", async () => {
  for (const text of createHostileTexts(LARGE, { mixtures: 10, seed: 2 })) {
    const post = createPostOfManyTexts(text);
    expect(await measureCpuMs(() => checkPost(post, KNOWN)), text.slice(0, 40)).toBeLessThan(500);
  }
});

test("a post with more combining marks in a row than any text may have is refused in less than 200 ms of processor time", async () => {
  const post = createPost("\u0f73".repeat(MAX_BYTES / 3));
  let codes: readonly string[] = [];
  const cpuMs = await measureCpuMs(() => {
    codes = checkPost(post, KNOWN).map(({ code }) => code);
  });
  expect(codes.filter((code) => code === "forbidden_characters")).toHaveLength(MAX_ACCOUNTS);
  expect(cpuMs).toBeLessThan(200);
});

test("planning a post to 100 accounts hashes each of its texts once", async () => {
  const due = dueFrom(new Date("2026-11-23T09:00:00Z"), 1000);
  const plan = (text: string) =>
    planTargets(createPost(text), ACCOUNTS, { due, idOf: (accountId) => accountId });
  expect(new Set(plan("hello").map(({ contentHash }) => contentHash)).size).toBe(1);
  const text = "é ".repeat(MAX_BYTES / 3);
  expect(await measureCpuMs(() => plan(text))).toBeLessThan(200);
});
