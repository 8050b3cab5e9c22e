import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import type { PostAccount, PostContent } from "#src/domain/post.ts";
import { countInSlices } from "./count-in-slices.ts";

const ACCOUNTS = new Map(
  Array.from({ length: 100 }, (_, index): readonly [string, PostAccount] => {
    const id = `0198c2f0-0000-7000-8000-${String(index).padStart(12, "0")}`;
    return [id, { id, platform: "x", username: "ada", status: "active", traits: {} }];
  }),
);
const KNOWN = { accounts: ACCOUNTS, media: new Map() };
const SHORT = { content: "short", accountIds: [...ACCOUNTS.keys()], mediaIds: [], options: {} };

/** A post with 100 different texts of which each takes about a millisecond to count. */
const LONG: PostContent = {
  ...SHORT,
  options: Object.fromEntries(
    SHORT.accountIds.map((id, index) => [id, { content: `${index} ${"a.co ".repeat(500)}` }]),
  ),
};
/** Maximum processor time in milliseconds for which the posts service may keep other requests waiting. */
const MAX_HOLD_MS = 50;

/** Counts 20 long texts at once and returns the longest processor time of one turn of the event loop meanwhile. */
async function measureLongestTurnMs(): Promise<number> {
  let isCounting = true;
  let before = process.threadCpuUsage();
  const requests = Array.from({ length: 20 }, () => countInSlices(LONG, KNOWN));
  const counted = Promise.all(requests).then(() => false);
  let longest = 0;
  while (isCounting) {
    isCounting = await Promise.race([counted, setImmediate(true)]);
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1000);
    before = process.threadCpuUsage();
  }
  return longest;
}

test("long texts of 20 requests at once keep the posts service from other work for at most 50 ms at a time", async () => {
  let shortest = Infinity;
  for (let repeat = 0; repeat < 5 && shortest >= MAX_HOLD_MS; repeat += 1)
    shortest = Math.min(shortest, await measureLongestTurnMs());
  expect(shortest).toBeLessThan(MAX_HOLD_MS);
});

test("a short text is counted while long texts wait for their turn", async () => {
  let hasCountedLong = false;
  const long = Promise.all([countInSlices(LONG, KNOWN), countInSlices(LONG, KNOWN)]).then(() => {
    hasCountedLong = true;
  });
  const count = await countInSlices(SHORT, KNOWN);
  expect([count("short", "weighted"), hasCountedLong]).toEqual([5, false]);
  await long;
});
