import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { QuotaExhaustion } from "@postrider/contracts/posts/v1/posts_events_pb";
import { afterAll, expect, test } from "vitest";
import { deliveryOf, newWorkspace, startPosts } from "./fixture.ts";

// The clock of the test advances by a millisecond per post, so that no test runs across the end of
// a day.
const START = new Date();
const DAY = START.toISOString().slice(0, 10);
const MONTH = DAY.slice(0, 7);

let nowMs = START.getTime();
const posts = await startPosts({ clock: () => Promise.resolve(new Date((nowMs += 1))) });
afterAll(() => posts[Symbol.asyncDispose]());

let count = 0;
const unique = () => `post ${(count += 1)}`;

function workspaceWith(limits: { monthlyQuota?: number; dailyQuota?: number }, platform = "x") {
  const workspaceId = newWorkspace();
  posts.peers.limits.set(workspaceId, limits);
  const accountIds = [posts.peers.connectAccount(workspaceId, platform)];
  return { workspaceId, accountIds, createdVia: "rest" };
}

/**
 * Returns the used-up quotas that the events of a workspace name, one list per event, oldest event
 * first.
 */
async function exhaustedIn(workspaceId: string): Promise<readonly QuotaExhaustion[][]> {
  const events = await posts.events();
  return events.flatMap(([, message]) =>
    message.workspaceId === workspaceId && "exhausted" in message ? [message.exhausted] : [],
  );
}

test("only the event of the post that uses up the monthly quota says that this quota is used up", async () => {
  const request = workspaceWith({ monthlyQuota: 3 });
  const { workspaceId } = request;

  for (let posted = 0; posted < 3; posted += 1)
    await posts.createPost({ ...request, content: unique() });

  const [first, second, third] = await exhaustedIn(workspaceId);
  expect([first, second]).toEqual([[], []]);
  expect(third).toMatchObject([
    {
      subject: workspaceId,
      period: MONTH,
      exhaustedAt: timestampFromDate(new Date(nowMs)),
      quota: {
        case: "monthly",
        value: {
          period: MONTH,
          limit: 3n,
          used: 0n,
          reserved: 3n,
          remaining: 0n,
        },
      },
    },
  ]);
});

test("the event of a post that uses up both the monthly quota and the daily quota of its account names both quotas", async () => {
  const request = workspaceWith({ monthlyQuota: 1, dailyQuota: 1 }, "bluesky");
  const [accountId] = request.accountIds;

  await posts.createPost(request);

  expect(await exhaustedIn(request.workspaceId)).toMatchObject([
    [
      { quota: { case: "monthly" } },
      {
        subject: accountId,
        period: DAY,
        quota: {
          case: "daily",
          value: { platform: "bluesky", accountId, scope: "account", limit: 1n, reserved: 1n },
        },
      },
    ],
  ]);
});

test("the event about a used-up daily limit of an app names the account of the post", async () => {
  const request = workspaceWith({ dailyQuota: 1 });
  const [accountId] = request.accountIds;

  await posts.createPost(request);

  expect(await exhaustedIn(request.workspaceId)).toMatchObject([
    [{ subject: "x", quota: { case: "daily", value: { accountId, scope: "app" } } }],
  ]);
});

test("a quota that is freed and used up again in the same period is reported once", async () => {
  const request = workspaceWith({ monthlyQuota: 1 });
  const { workspaceId } = request;
  const inAMinute = timestampFromDate(new Date(nowMs + 60_000));
  const scheduled = await posts.createPost({ ...request, scheduledAt: inAMinute });
  await posts.posts.deletePost({ workspaceId, id: scheduled.id });

  await posts.createPost({ ...request, scheduledAt: inAMinute });

  const reported = (await exhaustedIn(workspaceId)).map((each) => each.length);
  expect(reported).toEqual([1, 0]);
});

test("a post that is refused because of its quota reports no used-up quota", async () => {
  const request = workspaceWith({ monthlyQuota: 1 });
  await posts.createPost(request);
  await expect(posts.createPost({ ...request, content: unique() })).rejects.toThrow(
    "quota_exceeded",
  );

  expect(await exhaustedIn(request.workspaceId)).toHaveLength(1);
});

test("exactly one of several concurrent posts reports that the monthly quota is used up", async () => {
  const request = workspaceWith({ monthlyQuota: 8 });

  await Promise.allSettled(
    Array.from({ length: 12 }, () => posts.createPost({ ...request, content: unique() })),
  );

  const reported = await exhaustedIn(request.workspaceId);
  expect(reported.filter((each) => each.length > 0)).toHaveLength(1);
  expect(reported).toHaveLength(8);
});

test("an update that adds an account to a scheduled post reports the quota that it uses up", async () => {
  const request = workspaceWith({ monthlyQuota: 2 });
  const { workspaceId } = request;
  const scheduledAt = timestampFromDate(new Date(nowMs + 60_000));
  const post = await posts.createPost({ ...request, scheduledAt });
  const added = posts.peers.connectAccount(workspaceId, "telegram");

  await posts.posts.updatePost({
    workspaceId,
    id: post.id,
    accountIds: { values: [...request.accountIds, added] },
  });

  expect((await exhaustedIn(workspaceId)).map((each) => each.length)).toEqual([0, 1]);
});

test("a retry of a post reports the quota that it uses up", async () => {
  const request = workspaceWith({ monthlyQuota: 2 });
  const { workspaceId } = request;
  const post = await posts.createPost(request);
  await posts.report([deliveryOf(post)(0, "failed")]);
  await posts.createPost({ ...request, content: unique() });

  await posts.posts.retryPost({ workspaceId, id: post.id });

  expect((await exhaustedIn(workspaceId)).map((each) => each.length)).toEqual([0, 0, 1]);
});
