import { randomUUID } from "node:crypto";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { afterEach, expect, test, vi } from "vitest";
import { RefusedPosts } from "./refused-posts.ts";

const logger = createLogger({ service: "posts", level: "silent" });
const timedOut = () => Object.assign(new Error("canceling statement"), { code: "57014" });

afterEach(() => {
  vi.useRealTimers();
});

test("all of 2,000 posts that cannot be started are left out of the next batch", async () => {
  const refused = new RefusedPosts(logger);
  const ids = Array.from({ length: 2_000 }, () => randomUUID());

  await refused.handleOthers(
    () => Promise.reject(new Error("the index is damaged")),
    () => Promise.resolve(ids),
  );

  expect(refused.list()).toEqual(ids);
});

/** Posts that were refused a minute ago. */
async function refuse(count: number) {
  vi.useFakeTimers({ toFake: ["performance"] });
  const refused = new RefusedPosts(logger);
  const ids = Array.from({ length: count }, () => randomUUID());
  await refused.handleOthers(fail, () => Promise.resolve(ids));
  vi.advanceTimersByTime(59_000);
  expect(await refused.retry(fail, noneIsDue)).toBe(false);
  vi.advanceTimersByTime(1_001);
  expect(refused.list()).toEqual(ids);
  return { refused, ids };
}

const fail = async () => await Promise.reject(timedOut());
const noneIsDue = async () => await Promise.resolve([]);
const succeed = async (only: readonly string[] | null) => await Promise.resolve(only?.length ?? 0);

test("posts that were refused are tried again after a minute, one and then twice as many after each success", async () => {
  const { refused } = await refuse(100);
  const left: number[] = [];
  while (await refused.retry(succeed, noneIsDue)) left.push(refused.list().length);
  expect(left).toEqual([99, 97, 93, 85, 69, 37, 0]);
});

test("after a post took too long again no other is tried for a minute, and it is the last to be tried then", async () => {
  const { refused, ids } = await refuse(2);
  expect(await refused.retry(fail, noneIsDue)).toBe(true);
  expect(await refused.retry(succeed, noneIsDue)).toBe(false);
  expect(refused.list()).toEqual([ids[1], ids[0]]);
  vi.advanceTimersByTime(60_001);
  expect(await refused.retry(succeed, noneIsDue)).toBe(true);
  expect(refused.list()).toEqual([ids[0]]);
});

test("a post that is due and that another replica is at stays left out", async () => {
  const { refused, ids } = await refuse(1);
  const nothing = async () => await Promise.resolve(0);
  expect(await refused.retry(nothing, async (due) => await Promise.resolve(due))).toBe(true);
  expect(refused.list()).toEqual(ids);
  vi.advanceTimersByTime(60_001);
  expect(await refused.retry(nothing, noneIsDue)).toBe(true);
  expect(refused.list()).toEqual([]);
});
