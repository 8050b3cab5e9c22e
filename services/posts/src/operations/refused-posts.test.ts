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

test("posts that were refused are tried again one by one after a minute, and are in no batch until they are handled", async () => {
  vi.useFakeTimers({ toFake: ["performance"] });
  const refused = new RefusedPosts(logger);
  const ids = [randomUUID(), randomUUID()];
  const fail = async () => await Promise.reject(timedOut());
  await refused.handleOthers(fail, () => Promise.resolve(ids));
  const tries: (readonly string[] | null)[] = [];
  const succeed = async (only: readonly string[] | null) => {
    tries.push(only);
    return await Promise.resolve(1);
  };

  vi.advanceTimersByTime(59_000);
  expect(await refused.retryFirst(succeed)).toBe(false);
  vi.advanceTimersByTime(1_001);
  expect(refused.list()).toEqual(ids);
  expect(await refused.retryFirst(fail)).toBe(true);
  expect(await refused.retryFirst(succeed)).toBe(true);
  expect(await refused.retryFirst(succeed)).toBe(false);

  expect(tries).toEqual([[ids[1]]]);
  expect(refused.list()).toEqual([ids[0]]);
});
