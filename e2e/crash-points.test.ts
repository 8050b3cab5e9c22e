import { eventually } from "@postrider/shared/testing/poll";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CRASH_POINTS,
  expectAtRest,
  listCrashingPids,
  POSTS_PER_COMMAND,
  shortenTransactions,
} from "./support/faults/crash-points.ts";
import { prepareMixedPosts } from "./support/system/mixed-posts.ts";
import { stoppedAmong } from "./support/system/process-state.ts";
import { startSystem, type System } from "./support/system/system.ts";

let system: System;
beforeAll(async () => {
  system = await startSystem("postgres", { replicas: 2 });
  await shortenTransactions(system);
});
afterAll(() => system[Symbol.asyncDispose]());

test.each(CRASH_POINTS)(
  "posts reach their requested status while a process is suspended at the failpoint %s, and keep it when the process continues",
  async (point) => {
    const posts = await prepareMixedPosts(system, `stop ${point}`, POSTS_PER_COMMAND);
    system.armFailpoint(point, "stop");
    try {
      await posts.command();
      const stopped = await eventually(() => {
        const pids = stoppedAmong(listCrashingPids(system));
        return pids.length === 1 && pids;
      });
      await posts.settle();
      await posts.expectOnce();
      expect(stoppedAmong(listCrashingPids(system))).toEqual(stopped);
    } finally {
      for (const pid of stoppedAmong(listCrashingPids(system))) process.kill(pid, "SIGCONT");
    }
    await expectAtRest(system);
    await posts.settle();
    await posts.expectOnce();
  },
);

test.each(CRASH_POINTS)(
  "posts that are scheduled, edited, retried or deleted reach the requested status although a process is killed at the failpoint %s",
  async (point) => {
    const posts = await prepareMixedPosts(system, `kill ${point}`, POSTS_PER_COMMAND);
    const pids = listCrashingPids(system);
    system.armFailpoint(point, "kill");
    await posts.command();
    await posts.settle();
    await eventually(() => expect(listCrashingPids(system)).not.toEqual(pids));
    await posts.expectOnce();
    await expectAtRest(system);
  },
);
