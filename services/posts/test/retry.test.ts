import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { attempt, deliveryOf, newWorkspace, startPosts, type Posts } from "./fixture.ts";
import { storyOf } from "./story.ts";

let posts: Posts;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts[Symbol.asyncDispose]());

/** A post of which the first target is published, the second has failed and the third may be out. */
async function partial() {
  const story = storyOf(posts);
  const accountIds = [story.connect(), story.connect("telegram"), story.connect("bluesky")];
  const post = await story.create({ accountIds });
  const update = deliveryOf(post);
  await posts.tell([
    update(0, "published", { attemptCount: 1 }),
    update(1, "failed", { attemptCount: 1, attempt: attempt(1, "failed", "content_rejected") }),
    update(2, "failed", { errorCode: "outcome_unknown", attemptCount: 1 }),
  ]);
  return { story, post, update };
}

const statuses = ({ targets }: Post) => targets.map(({ status }) => status);

test("a retry publishes only targets that failed for certain, at their next generation", async () => {
  const { story, post } = await partial();
  await posts.sql`delete from outbox`;
  const { post: retried } = await posts.posts.retryPost(story.ref(post));

  expect(retried).toMatchObject({ status: "publishing", version: 3n });
  expect(retried?.targets.map(({ status }) => status)).toEqual([
    "published",
    "publishing",
    "failed",
  ]);
  expect(await posts.events()).toMatchObject([
    ["PostPublishRequested", { targets: [{ targetId: post.targets[1]?.id, generation: 2 }] }],
  ]);
  expect(await story.month()).toEqual([2, 1]);
});

test("the attempts of a target keep counting after a retry", async () => {
  const { story, post, update } = await partial();
  await posts.posts.retryPost(story.ref(post));
  const second = { generation: 2, attemptCount: 2, attempt: attempt(2, "published") };
  await posts.tell([update(1, "published", second)]);

  const { attempts, status } = await story.reread(post);
  expect(attempts.map(({ number }) => number)).toEqual([1, 2]);
  expect(status).toBe("partial");
});

test("a post whose failed targets all have an unknown outcome cannot be retried, and the error names them", async () => {
  const story = storyOf(posts);
  const post = await story.create();
  await posts.tell([deliveryOf(post)(0, "failed", { errorCode: "outcome_unknown" })]);

  await expect(posts.posts.retryPost(story.ref(post))).rejects.toMatchObject({
    reason: "nothing_to_retry",
    violations: [{ code: "outcome_unknown", accountId: post.targets[0]?.accountId, platform: "x" }],
  });
  expect(await story.reread(post)).toMatchObject({ status: "failed", version: 2n });
});

test("a post without failed targets cannot be retried", async () => {
  const story = storyOf(posts);
  const published = await story.create({ content: "out" });
  await posts.tell([deliveryOf(published)(0, "published")]);
  const cancelled = await story.create({ content: "gone" });
  await posts.posts.deletePost(story.ref(cancelled));
  for (const post of [
    await story.draft(),
    await story.scheduled(),
    await story.create({ content: "open" }),
    published,
    cancelled,
  ]) {
    await expect(posts.posts.retryPost(story.ref(post))).rejects.toMatchObject({
      reason: "nothing_to_retry",
    });
  }
});

test("a retry above the quota is refused and changes nothing", async () => {
  const story = storyOf(posts);
  posts.neighbours.limits.set(story.workspaceId, { monthlyQuota: 1 });
  const first = await story.create({ content: "first" });
  await posts.tell([deliveryOf(first)(0, "failed")]);
  const other = await story.create({ content: "other" });
  const before = await story.reread(first);

  await expect(posts.posts.retryPost(story.ref(first))).rejects.toMatchObject({
    reason: "quota_exceeded",
  });
  expect(await story.reread(first)).toEqual(before);
  await posts.tell([deliveryOf(other)(0, "failed")]);
  expect((await posts.posts.retryPost(story.ref(first))).post?.status).toBe("publishing");
});

test("concurrent retries and a late success never publish a target twice", async () => {
  for (let round = 0; round < 12; round += 1) {
    const story = storyOf(posts);
    const post = await story.create({ accountIds: [story.connect(), story.connect()] });
    const update = deliveryOf(post);
    await posts.tell([update(0, "failed"), update(1, "failed")]);
    await posts.sql`delete from outbox`;

    const results = await Promise.allSettled([
      posts.posts.retryPost(story.ref(post)),
      posts.tell([update(0, "published")]),
      posts.posts.retryPost(story.ref(post)),
    ]);
    expect([results[0], results[2]].filter(({ status }) => status === "fulfilled")).toHaveLength(1);

    const now = await story.reread(post);
    expect(statuses(now)).toEqual(["published", "publishing"]);
    const [target] = await posts.sql<{ generation: number }[]>`
      select generation from targets where id = ${post.targets[0]?.id ?? ""}`;
    const { contents } = await posts.targets.batchGetTargetContents({
      refs: [1, 2, 3].map((generation) => ({
        workspaceId: story.workspaceId,
        targetId: post.targets[0]?.id ?? "",
        generation,
      })),
    });
    expect(contents.map(({ wanted }) => wanted)).toEqual([false, false, false]);
    expect(target?.generation).toBeLessThanOrEqual(2);
    const requested = (await story.events(post)).filter((name) => name === "PostPublishRequested");
    expect(requested).toHaveLength(1);
    await story.assertQuotaIsTrue();
  }
});

test("a post of another workspace cannot be retried", async () => {
  const { post } = await partial();
  const foreign = { workspaceId: newWorkspace(), id: post.id };
  await expect(posts.posts.retryPost(foreign)).rejects.toMatchObject({ reason: "not_found" });
});
