import type { OverviewJson } from "@postrider/rest/dashboard/overview";
import { expect, test } from "vitest";
import { attempt, deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";
import { workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();

/**
 * Creates a post with three targets: one is published, one failed, and one has an unknown outcome.
 */
async function partial() {
  const workspace = workspaceOf(posts);
  const accountIds = [
    workspace.connect(),
    workspace.connect("telegram"),
    workspace.connect("bluesky"),
  ];
  const post = await workspace.create({ accountIds });
  const update = deliveryOf(post);
  await posts.report([
    update(0, "published", { attemptCount: 1 }),
    update(1, "failed", { attemptCount: 1, attempt: attempt(1, "failed", "content_rejected") }),
    update(2, "failed", { errorCode: "outcome_unknown", attemptCount: 1 }),
  ]);
  return { workspace, post, update };
}

const statuses = ({ targets }: ShownPost) => targets.map(({ status }) => status);

test("a retry publishes a post again only on accounts on which publishing has certainly failed", async () => {
  const { workspace, post } = await partial();
  await posts.sql`delete from outbox`;
  const { post: retried } = await posts.posts.retryPost(workspace.ref(post));

  expect(retried).toMatchObject({ status: "publishing", version: 3n });
  expect(retried?.targets.map(({ status }) => status)).toEqual([
    "published",
    "publishing",
    "failed",
  ]);
  expect(await posts.events()).toMatchObject([
    ["PostPublishRequested", { targets: [{ targetId: post.targets[1]?.id, generation: 2 }] }],
  ]);
  expect(await workspace.quota()).toEqual([2, 1]);
});

test("the count of attempts of a target continues after a retry", async () => {
  const { workspace, post, update } = await partial();
  await posts.posts.retryPost(workspace.ref(post));
  const second = { generation: 2, attemptCount: 2, attempt: attempt(2, "published") };
  await posts.report([update(1, "published", second)]);

  const { attempts, status } = await workspace.reread(post);
  expect(attempts.map(({ number }) => number)).toEqual([1, 2]);
  expect(status).toBe("partial");
});

test("a post whose failed targets all have an unknown outcome cannot be retried, and the error lists these targets", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.create();
  await posts.report([deliveryOf(post)(0, "failed", { errorCode: "outcome_unknown" })]);

  await expect(posts.posts.retryPost(workspace.ref(post))).rejects.toMatchObject({
    reason: "nothing_to_retry",
    violations: [{ code: "outcome_unknown", accountId: post.targets[0]?.accountId, platform: "x" }],
  });
  expect(await workspace.reread(post)).toMatchObject({ status: "failed", version: 2n });
});

test("a target that was sent 100 times is not retried, neither with its post nor with its account", async () => {
  const workspace = workspaceOf(posts);
  const { workspaceId } = workspace;
  const accountIds = [workspace.connect(), workspace.connect("telegram")];
  const post = await workspace.create({ accountIds });
  const [worn, other] = post.targets.map(({ id }) => id);
  const update = deliveryOf(post);
  await posts.report([update(0, "failed"), update(1, "failed")]);
  await posts.sql`
    update targets set generation = case when id = ${worn ?? ""} then 100 else 99 end
    where id in ${posts.sql([worn ?? "", other ?? ""])}`;

  const { post: retried } = await posts.posts.retryPost(workspace.ref(post));
  expect(retried?.targets.map(({ status }) => status)).toEqual(["failed", "publishing"]);
  await posts.report([update(1, "failed", { generation: 100 })]);
  await expect(posts.posts.retryPost(workspace.ref(post))).rejects.toMatchObject({
    reason: "nothing_to_retry",
    violations: [],
  });
  const [accountId = ""] = accountIds;
  const { json } = await posts.overview.getOverview({ workspaceId });
  expect((JSON.parse(json) as OverviewJson).needsYou.causes).toMatchObject([
    { failed: 1, retryable: 0 },
    { failed: 1, retryable: 0 },
  ]);
  expect(await posts.overview.retryAccount({ workspaceId, accountId })).toMatchObject({
    retried: 0,
    refused: [],
    isMore: false,
  });
});

test("a post without failed targets cannot be retried", async () => {
  const workspace = workspaceOf(posts);
  const published = await workspace.create({ content: "out" });
  await posts.report([deliveryOf(published)(0, "published")]);
  const cancelled = await workspace.create({ content: "gone" });
  await posts.posts.deletePost(workspace.ref(cancelled));
  for (const post of [
    await workspace.draft(),
    await workspace.scheduled(),
    await workspace.create({ content: "open" }),
    published,
    cancelled,
  ])
    await expect(posts.posts.retryPost(workspace.ref(post))).rejects.toMatchObject({
      reason: "nothing_to_retry",
    });
});

test("a retry of a post that exceeds the quota is refused and changes nothing", async () => {
  const workspace = workspaceOf(posts);
  posts.peers.limits.set(workspace.workspaceId, { monthlyQuota: 1 });
  const first = await workspace.create({ content: "first" });
  await posts.report([deliveryOf(first)(0, "failed")]);
  const other = await workspace.create({ content: "other" });
  const before = await workspace.reread(first);

  await expect(posts.posts.retryPost(workspace.ref(first))).rejects.toMatchObject({
    reason: "quota_exceeded",
  });
  expect(await workspace.reread(first)).toEqual(before);
  await posts.report([deliveryOf(other)(0, "failed")]);
  expect((await posts.posts.retryPost(workspace.ref(first))).post?.status).toBe("publishing");
});

test("concurrent retries of a post and a late success never publish a target twice", async () => {
  for (let round = 0; round < 12; round += 1) {
    const workspace = workspaceOf(posts);
    const post = await workspace.create({ accountIds: [workspace.connect(), workspace.connect()] });
    const update = deliveryOf(post);
    await posts.report([update(0, "failed"), update(1, "failed")]);
    await posts.sql`delete from outbox`;

    const results = await Promise.allSettled([
      posts.posts.retryPost(workspace.ref(post)),
      posts.report([update(0, "published")]),
      posts.posts.retryPost(workspace.ref(post)),
    ]);
    expect([results[0], results[2]].filter(({ status }) => status === "fulfilled")).toHaveLength(1);

    const now = await workspace.reread(post);
    expect(statuses(now)).toEqual(["published", "publishing"]);
    const [target] = await posts.sql<{ generation: number }[]>`
      select generation from targets where id = ${post.targets[0]?.id ?? ""}`;
    const { contents } = await posts.targets.batchGetTargetContents({
      refs: [1, 2, 3].map((generation) => ({
        workspaceId: workspace.workspaceId,
        targetId: post.targets[0]?.id ?? "",
        generation,
      })),
    });
    expect(contents.map(({ wanted }) => wanted)).toEqual([false, false, false]);
    expect(target?.generation).toBeLessThanOrEqual(2);
    const requested = (await workspace.events(post)).filter(
      (name) => name === "PostPublishRequested",
    );
    expect(requested).toHaveLength(1);
    await workspace.assertQuotaIsTrue();
  }
});

test("a post of another workspace cannot be retried", async () => {
  const { post } = await partial();
  const foreign = { workspaceId: newWorkspace(), id: post.id };
  await expect(posts.posts.retryPost(foreign)).rejects.toMatchObject({ reason: "not_found" });
});
