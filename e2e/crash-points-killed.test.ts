import { afterAll, beforeAll, expect, test } from "vitest";
import {
  CRASH_POINTS,
  expectAtRest,
  listCrashingPids,
  POSTS_PER_COMMAND,
} from "./support/faults/crash-points.ts";
import { prepareMixedPosts } from "./support/mixed-posts.ts";
import { startSystem, type System } from "./support/system.ts";

let system: System;
beforeAll(async () => {
  system = await startSystem("postgres");
});
afterAll(() => system[Symbol.asyncDispose]());

test.each(CRASH_POINTS)(
  "posts that are scheduled, edited, retried or deleted reach the requested status although a process is killed at the failpoint %s",
  async (point) => {
    const posts = await prepareMixedPosts(system, `kill ${point}`, POSTS_PER_COMMAND);
    const pids = listCrashingPids(system);
    system.armFailpoint(point, "kill");
    await posts.command();
    await posts.settle();
    expect(listCrashingPids(system)).not.toEqual(pids);
    await posts.expectOnce();
    await expectAtRest(system);
  },
);
