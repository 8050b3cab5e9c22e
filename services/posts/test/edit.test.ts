import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { beforeEach, expect, test } from "vitest";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import { msOf, toTimestamp, type ShownPost } from "./shown-posts.ts";
import { DAILY_RULE, inHours, workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();
beforeEach(async () => {
  await posts.migrationSql`truncate posts, outbox cascade`;
  posts.peers.accountsAreUp = true;
});

const ids = (values: readonly string[]) => ({ values: [...values] });
async function settle(post: ShownPost, status: "published" | "failed") {
  await posts.report([deliveryOf(post)(0, status)]);
  return post;
}

test("an update of a post replaces only the fields that were sent", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft({ options: { x: { content: "short" } } });
  const { post: changed } = await posts.posts.updatePost({
    ...workspace.ref(post),
    content: "new",
  });

  expect(changed).toEqual({
    ...post,
    content: "new",
    version: 2n,
    updatedAt: changed?.updatedAt,
  });
  const cleared = { ...workspace.ref(post), options: "{}" };
  expect((await posts.posts.updatePost(cleared)).post?.options).toEqual({});
  expect(await workspace.events(post)).toEqual([]);
});

test("an update of a post's accounts keeps the targets of remaining accounts, in the new order", async () => {
  const workspace = workspaceOf(posts);
  const [a, b, c] = [workspace.connect(), workspace.connect(), workspace.connect("telegram")];
  const post = await workspace.scheduled({ accountIds: [a, b] });
  const { post: changed } = await posts.posts.updatePost({
    ...workspace.ref(post),
    accountIds: ids([c, a]),
  });

  expect(changed?.targets.map(({ accountId }) => accountId)).toEqual([c, a]);
  expect(changed?.targets[1]).toEqual(post.targets[0]);
  expect(await workspace.reread(post)).toEqual(changed);
  await workspace.assertQuotaIsTrue();
});

test("an update that sets the time of a draft checks and schedules the draft, reserves quota and appends an event", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft({ content: " " });
  const at = inHours(24);
  const ref = workspace.ref(post);
  await expect(posts.posts.updatePost({ ...ref, scheduledAt: at })).rejects.toMatchObject({
    reason: "validation_failed",
    violations: [{ code: "content_required" }],
  });
  expect(await workspace.reread(post)).toEqual(post);

  const { post: changed } = await posts.posts.updatePost({
    ...ref,
    content: "ready",
    scheduledAt: at,
  });
  expect(changed?.status).toBe("scheduled");
  expect(toTimestamp(changed?.scheduledAt ?? null)).toEqual(at);
  expect(await workspace.events(post)).toEqual(["PostScheduled"]);
  await workspace.assertQuotaIsTrue();
});

test("an update of a post checks the scheduled time only if the update request contains a scheduled time", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.scheduled();
  await posts.sql`
      update posts set scheduled_at = now() - interval '10 minutes' where id = ${post.id}`;
  const ref = workspace.ref(post);
  expect((await posts.posts.updatePost({ ...ref, content: "new" })).post?.content).toBe("new");
  await expect(posts.posts.updatePost({ ...ref, scheduledAt: inHours(-1) })).rejects.toMatchObject({
    violations: [{ code: "schedule_in_past" }],
  });
  await expect(
    posts.posts.updatePost({ ...ref, scheduledAt: inHours(24 * 367) }),
  ).rejects.toMatchObject({ violations: [{ code: "schedule_too_far" }] });
});

test("an update of the time of a post moves the reserved quota to the new month", async () => {
  const workspace = workspaceOf(posts);
  const at = (month: number) => timestampFromDate(new Date(Date.UTC(2027, month, 15)));
  const post = await workspace.create({ scheduledAt: at(1) });
  await posts.posts.updatePost({ ...workspace.ref(post), scheduledAt: at(3) });
  const rows = await posts.sql`
      select period, reserved from quota_usage
      where workspace_id = ${workspace.workspaceId} and length(period) = 7 order by period`;
  expect([...rows]).toEqual([
    { period: "2027-02", reserved: 0 },
    { period: "2027-04", reserved: 1 },
  ]);
});

test("an update of a post to more accounts than the quota allows changes nothing", async () => {
  const workspace = workspaceOf(posts);
  posts.peers.limits.set(workspace.workspaceId, { monthlyQuota: 2 });
  const post = await workspace.scheduled();
  const [known = ""] = post.targets.map(({ accountId }) => accountId);
  const wanted = ids([known, workspace.connect(), workspace.connect()]);
  await expect(
    posts.posts.updatePost({ ...workspace.ref(post), accountIds: wanted }),
  ).rejects.toMatchObject({
    reason: "quota_exceeded",
    violations: [{ code: "monthly", limit: 2, reserved: 1n, requested: 2n }],
  });
  expect(await workspace.reread(post)).toEqual(post);
  await workspace.assertQuotaIsTrue();
});

test("only an update that changes the time of a post frees its queue slot", async () => {
  const workspace = workspaceOf(posts);
  await posts.slots.createQueueSlotRule({ workspaceId: workspace.workspaceId, ...DAILY_RULE });
  const post = await workspace.create({ queueSlot: true });
  const ref = workspace.ref(post);
  const { post: edited } = await posts.posts.updatePost({ ...ref, content: "new" });
  expect(edited?.queueSlotRuleId).toBe(post.queueSlotRuleId);

  const { post: moved } = await posts.posts.updatePost({ ...ref, scheduledAt: inHours(30) });
  expect(moved?.queueSlotRuleId).toBeNull();
  expect((await workspace.create({ queueSlot: true })).scheduledAt).toEqual(post.scheduledAt);
});

test("an update of a post to the content of another post is refused, and new posts with the unchanged content are still refused as duplicates", async () => {
  const workspace = workspaceOf(posts);
  const accountIds = [workspace.connect()];
  const other = await workspace.scheduled({ accountIds, content: "taken" });
  const post = await workspace.scheduled({ accountIds, content: "mine" });
  await expect(
    posts.posts.updatePost({ ...workspace.ref(post), content: " taken\n" }),
  ).rejects.toMatchObject({
    reason: "duplicate_content",
    violations: [{ code: "duplicate_content", postId: other.id, accountId: accountIds[0] }],
  });
  const again = workspace.scheduled({ accountIds, content: "mine" });
  await expect(again).rejects.toMatchObject({ reason: "duplicate_content" });

  await posts.posts.updatePost({ ...workspace.ref(post), content: "something else" });
  expect((await workspace.create({ accountIds, content: "mine" })).status).toBe("publishing");
});

test("an update that does not change the content of a post created with `force` is not checked for duplicates", async () => {
  const workspace = workspaceOf(posts);
  const accountIds = [workspace.connect()];
  await workspace.scheduled({ accountIds });
  const post = await workspace.scheduled({ accountIds, force: true });
  const moved = await posts.posts.updatePost({ ...workspace.ref(post), scheduledAt: inHours(60) });
  expect(moved.post?.version).toBe(2n);
});

test("an update of a post that expects an outdated version is refused", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft();
  const stale = { ...workspace.ref(post), ifVersion: 2n, content: "new" };
  await expect(posts.posts.updatePost(stale)).rejects.toMatchObject({
    reason: "precondition_failed",
  });
  const current = { ...stale, ifVersion: 1n };
  expect((await posts.posts.updatePost(current)).post?.version).toBe(2n);
});

test("a request to publish an outdated version of a post is refused, and the post stays as it is", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft();
  const { post: edited } = await posts.posts.updatePost({
    ...workspace.ref(post),
    content: "not read by the person who publishes",
  });
  await expect(
    posts.posts.publishPost({ ...workspace.ref(post), ifVersion: 1n }),
  ).rejects.toMatchObject({ reason: "precondition_failed" });
  const { post: kept } = await posts.posts.getPost(workspace.ref(post));
  expect(kept).toEqual(edited);
  const current = { ...workspace.ref(post), ifVersion: 2n };
  expect((await posts.posts.publishPost(current)).post?.status).toBe("publishing");
});

test("an update of a post that has begun to be published is refused", async () => {
  const workspace = workspaceOf(posts);
  const cancelled = await workspace.create({ content: "cancelled" });
  await posts.posts.deletePost(workspace.ref(cancelled));
  for (const post of [
    await workspace.create({ content: "publishing" }),
    await settle(await workspace.create({ content: "published" }), "published"),
    await settle(await workspace.create({ content: "failed" }), "failed"),
    cancelled,
  ])
    await expect(
      posts.posts.updatePost({ ...workspace.ref(post), content: "new" }),
    ).rejects.toMatchObject({ reason: "post_not_editable" });
});

test("a request to update a post is refused as invalid if it contains no field", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft();
  await expect(posts.posts.updatePost(workspace.ref(post))).rejects.toMatchObject({
    reason: "invalid_request",
  });
});

test("concurrent updates of different fields of a post are both applied", async () => {
  for (let round = 0; round < 8; round += 1) {
    const workspace = workspaceOf(posts);
    const post = await workspace.draft();
    const account = workspace.connect();
    await Promise.all([
      posts.posts.updatePost({ ...workspace.ref(post), content: "new" }),
      posts.posts.updatePost({ ...workspace.ref(post), accountIds: ids([account]) }),
    ]);
    expect(await workspace.reread(post)).toMatchObject({
      version: 3n,
      content: "new",
      targets: [{ accountId: account }],
    });
  }
});

test("concurrent updates that swap the contents of two posts succeed or fail with a duplicate error", async () => {
  for (let round = 0; round < 2; round += 1) {
    const workspace = workspaceOf(posts);
    const accountIds = [workspace.connect()];
    const a = await workspace.scheduled({ accountIds, content: "a" });
    const b = await workspace.scheduled({ accountIds, content: "b" });
    const results = await Promise.allSettled([
      posts.posts.updatePost({ ...workspace.ref(a), content: "b" }),
      posts.posts.updatePost({ ...workspace.ref(b), content: "a" }),
    ]);
    const refusals = results.flatMap((result) =>
      result.status === "rejected" ? [String(result.reason.reason)] : [],
    );
    expect(refusals.filter((reason) => reason !== "duplicate_content")).toEqual([]);
    const contents = [await workspace.reread(a), await workspace.reread(b)].map(
      ({ content }) => content,
    );
    expect(new Set(contents).size).toBe(2);
  }
});

test.each(["draft", "scheduled"] as const)(
  "PublishPost starts a %s post once, at the time of the request",
  async (kind) => {
    const workspace = workspaceOf(posts);
    const post = await workspace[kind]({ scheduledAt: inHours(48) });
    const { post: started } = await posts.posts.publishPost(workspace.ref(post));

    expect(started).toMatchObject({
      status: "publishing",
      version: 2n,
      targets: [{ id: post.targets[0]?.id, status: "publishing" }],
    });
    expect(started?.scheduledAt).toEqual(started?.startedAt);
    const at = msOf(started?.startedAt ?? null);
    expect(Math.abs(Date.now() - at)).toBeLessThan(60_000);
    expect((await posts.events()).at(-1)).toMatchObject([
      "PostPublishRequested",
      { targets: [{ targetId: post.targets[0]?.id, generation: 1 }] },
    ]);
    expect(await workspace.quota()).toEqual([0, 1]);
    await workspace.assertQuotaIsTrue();
    await expect(posts.posts.publishPost(workspace.ref(post))).rejects.toMatchObject({
      reason: "invalid_transition",
    });
  },
);

test("publishing a draft without a scheduled time does not set a scheduled time", async () => {
  const workspace = workspaceOf(posts);
  const { post } = await posts.posts.publishPost(workspace.ref(await workspace.draft()));
  expect(post?.scheduledAt).toBeNull();
});

test("publishing a draft that its platform would refuse changes nothing", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft({ content: "x".repeat(300) });
  await expect(posts.posts.publishPost(workspace.ref(post))).rejects.toMatchObject({
    reason: "validation_failed",
    violations: [{ code: "content_too_long" }],
  });
  expect(await workspace.reread(post)).toEqual(post);
});

test("publishing a draft with the content of another post is refused unless the request sets `force`", async () => {
  const workspace = workspaceOf(posts);
  const accountIds = [workspace.connect()];
  await workspace.create({ accountIds });
  const post = await workspace.draft({ accountIds });
  await expect(posts.posts.publishPost(workspace.ref(post))).rejects.toMatchObject({
    reason: "duplicate_content",
  });
  const forced = await posts.posts.publishPost({ ...workspace.ref(post), force: true });
  expect(forced.post?.status).toBe("publishing");
});

test("publishing a post before its queue slot frees the slot and moves its quota to today", async () => {
  const workspace = workspaceOf(posts);
  await posts.slots.createQueueSlotRule({ workspaceId: workspace.workspaceId, ...DAILY_RULE });
  const post = await workspace.create({ queueSlot: true });
  const { post: started } = await posts.posts.publishPost(workspace.ref(post));
  expect(started?.queueSlotRuleId).toBeNull();
  const next = await workspace.create({ queueSlot: true, content: "next" });
  expect(next.scheduledAt).toEqual(post.scheduledAt);
  await workspace.assertQuotaIsTrue();
});

test("PublishPost and the scheduler together start a post once", async () => {
  for (let round = 0; round < 10; round += 1) {
    const workspace = workspaceOf(posts);
    const post = await workspace.scheduled();
    await posts.sql`
        with post as (update posts set scheduled_at = now() where id = ${post.id})
        update targets set due_at = now() where post_id = ${post.id}`;
    await Promise.allSettled([
      posts.posts.publishPost(workspace.ref(post)),
      posts.startDue(),
      posts.startDue(),
    ]);
    await posts.startDue();
    expect(await workspace.reread(post)).toMatchObject({ status: "publishing", version: 2n });
    expect(await workspace.events(post)).toEqual(["PostScheduled", "PostPublishRequested"]);
    await workspace.assertQuotaIsTrue();
  }
});

test("a post that is published and deleted concurrently uses no quota afterwards", async () => {
  for (let round = 0; round < 10; round += 1) {
    const workspace = workspaceOf(posts);
    const post = await workspace.scheduled();
    await Promise.allSettled([
      posts.posts.publishPost(workspace.ref(post)),
      posts.posts.deletePost(workspace.ref(post)),
    ]);
    const names = await workspace.events(post);
    expect(["PostDeleted", "PostCancelled"]).toContain(names.at(-1));
    expect(await workspace.quota()).toEqual([0, 0]);
    await workspace.assertQuotaIsTrue();
  }
});

test("a post can be neither updated nor published from another workspace", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft();
  const foreign = { workspaceId: newWorkspace(), id: post.id };
  const gone = { reason: "not_found" };
  await expect(posts.posts.updatePost({ ...foreign, content: "x" })).rejects.toMatchObject(gone);
  await expect(posts.posts.publishPost(foreign)).rejects.toMatchObject(gone);
  const account = posts.peers.connectAccount(newWorkspace(), "x");
  await expect(
    posts.posts.updatePost({ ...workspace.ref(post), accountIds: ids([account]) }),
  ).rejects.toMatchObject({ violations: [{ code: "unknown_account" }] });
  expect(await workspace.reread(post)).toEqual(post);
});
