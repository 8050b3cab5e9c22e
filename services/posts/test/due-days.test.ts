import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newWorkspace, startPosts, type Posts } from "./fixture.ts";

let posts: Posts;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts[Symbol.asyncDispose]());

const DAY_MS = 86_400_000;

/** Returns noon in UTC, `days` days from today. */
const noonInDays = (days: number) =>
  timestampFromDate(new Date((Math.floor(Date.now() / DAY_MS) + days + 0.5) * DAY_MS));

test("a daily limit counts a post on the UTC day on which the post is due", async () => {
  const workspaceId = newWorkspace();
  posts.peers.limits.set(workspaceId, { dailyQuota: 2 });
  const accountIds = [posts.peers.connectAccount(workspaceId, "bluesky")];
  const schedule = (content: string, days: number) =>
    posts.createPost({ workspaceId, accountIds, content, scheduledAt: noonInDays(days) });

  await schedule("first of a day", 2);
  await schedule("second of a day", 2);

  await expect(schedule("third of a day", 2)).rejects.toMatchObject({
    reason: "quota_exceeded",
    violations: [{ code: "daily", limit: 2, used: 0n, reserved: 2n, requested: 1n }],
  });
  await expect(schedule("first of another day", 4)).resolves.toBeDefined();
});
