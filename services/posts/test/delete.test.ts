import { beforeEach, expect, test } from "vitest";
import { deletionOf, deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import { toTimestamp, type ShownPost } from "./shown-posts.ts";
import { DAILY_RULE, workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();
beforeEach(async () => {
  await posts.migrationSql`truncate posts, outbox cascade`;
  posts.peers.tasks.clear();
  posts.peers.deletions.clear();
  posts.peers.calling.clear();
  posts.peers.closed.clear();
  posts.peers.onCancel = async () => undefined;
  posts.peers.deliveryIsUp = true;
});

const statusesOf = ({ targets }: Pick<ShownPost, "targets">) => targets.map(({ status }) => status);

/** Creates a post with one target for each given outcome. */
async function settled(outcomes: readonly (readonly ["published" | "failed", string?])[]) {
  const workspace = workspaceOf(posts);
  const post = await workspace.create({ accountIds: outcomes.map(() => workspace.connect()) });
  const update = deliveryOf(post);
  await posts.report(
    outcomes.map(([status, errorCode], ordinal) =>
      update(ordinal, status, errorCode === undefined ? {} : { errorCode }),
    ),
  );
  return { workspace, post, update };
}

test.each(["draft", "scheduled"] as const)(
  "deleting a post with the status %s removes the post",
  async (kind) => {
    const workspace = workspaceOf(posts);
    const post = await workspace[kind]();
    const answer = await posts.posts.deletePost(workspace.ref(post));

    expect(answer).toMatchObject({ targets: [] });
    expect(answer.post).toBeUndefined();
    await expect(workspace.reread(post)).rejects.toMatchObject({ reason: "not_found" });
    await expect(posts.posts.deletePost(workspace.ref(post))).rejects.toMatchObject({
      reason: "not_found",
    });
    expect((await workspace.events(post)).at(-1)).toBe("PostDeleted");
    await workspace.assertQuotaIsTrue();
  },
);

test("the event of a deleted scheduled post has a higher version than every event of the post before", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.scheduled();
  await posts.posts.deletePost(workspace.ref(post));

  const events = (await posts.events()).filter(([, event]) => event.postId === post.id);
  const versions = events.map(([, { version }]) => Number(version));
  expect(versions.length).toBeGreaterThan(1);
  expect(versions.at(-1)).toBeGreaterThan(Math.max(...versions.slice(0, -1)));
});

test("deleting a scheduled post frees its quota and its queue slot, and its content may be posted again", async () => {
  const workspace = workspaceOf(posts);
  const account = workspace.connect();
  const { rule } = await posts.slots.createQueueSlotRule({
    workspaceId: workspace.workspaceId,
    ...DAILY_RULE,
  });
  const placed = { accountIds: [account], queueSlot: true };
  const first = await workspace.create(placed);
  expect(toTimestamp(first.scheduledAt)).toEqual(rule?.nextSlots[0]);

  await posts.posts.deletePost(workspace.ref(first));
  const second = await workspace.create(placed);
  expect(second.scheduledAt).toEqual(first.scheduledAt);
  await workspace.assertQuotaIsTrue();
});

test("deleting a post whose publishing has ended cancels the post and returns the outcome of each target", async () => {
  const { workspace, post } = await settled([
    ["published"],
    ["failed", "content_rejected"],
    ["failed", "outcome_unknown"],
    ["published"],
  ]);
  posts.peers.accounts.delete(post.targets[3]?.accountId ?? "");
  await posts.sql`update targets set platform = 'x' where post_id = ${post.id}`;
  const answer = await posts.posts.deletePost(workspace.ref(post));

  expect(answer.post).toMatchObject({ status: "cancelled", version: post.version + 2n });
  expect((await workspace.reread(post)).publishedAt).not.toBeNull();
  expect(answer.targets.map(({ status, error: why }) => [status, why?.code])).toEqual([
    ["deleting", undefined],
    ["not_published", undefined],
    ["delete_failed", "outcome_unknown"],
    ["delete_failed", "account_disconnected"],
  ]);
  expect(await workspace.events(post)).toEqual([
    "PostPublishRequested",
    "PostPartial",
    "PostCancelled",
    "PostDeletionRequested",
  ]);
  const [, requested] =
    (await posts.events()).findLast(([name]) => name.includes("Deletion")) ?? [];
  expect(requested).toMatchObject({
    targets: [{ targetId: post.targets[0]?.id, externalId: "external-0", deletion: 1 }],
  });
  await workspace.assertQuotaIsTrue();
});

test("a target stays published when the API of its platform cannot delete posts", async () => {
  const { workspace, post } = await settled([["published"]]);
  await posts.sql`update targets set platform = 'tiktok' where post_id = ${post.id}`;
  const answer = await posts.posts.deletePost(workspace.ref(post));

  expect(answer.targets).toMatchObject([{ status: "not_supported" }]);
  expect(answer.post).toMatchObject({ status: "cancelled" });
  expect(statusesOf(await workspace.reread(post))).toEqual(["published"]);
});

test("a report of the delivery service ends the deletion of a target exactly once, and the quota stays used", async () => {
  const { workspace, post } = await settled([["published"]]);
  await posts.posts.deletePost(workspace.ref(post));
  const deleted = deletionOf(post, 0, { status: "deleted", version: 2n });
  await posts.reportDeletions([deleted]);
  const after = await workspace.reread(post);
  await posts.reportDeletions([deletionOf(post, 0, { status: "deleting" }), deleted]);

  expect(after).toMatchObject({ status: "cancelled", targets: [{ status: "deleted" }] });
  expect(await workspace.reread(post)).toEqual(after);
  expect(await workspace.quota()).toEqual([1, 0]);
});

test("deleting a cancelled post again repeats only the failed deletions of targets", async () => {
  const { workspace, post } = await settled([["published"], ["published"]]);
  await posts.posts.deletePost(workspace.ref(post));
  await posts.reportDeletions([
    deletionOf(post, 0, { status: "deleted" }),
    deletionOf(post, 1, { status: "delete_failed", errorCode: "permission_missing" }),
  ]);
  expect((await workspace.reread(post)).targets[1]).toMatchObject({
    status: "delete_failed",
    error: { code: "permission_missing" },
  });

  const answer = await posts.posts.deletePost(workspace.ref(post));
  expect(answer.targets.map(({ status }) => status)).toEqual(["deleted", "deleting"]);
  const requests = (await posts.events()).filter(([name, { postId }]) => {
    return name === "PostDeletionRequested" && postId === post.id;
  });
  expect(requests.at(-1)?.[1]).toMatchObject({
    targets: [{ targetId: post.targets[1]?.id, deletion: 2 }],
  });
  // A deletion update that belongs to the first deletion request is outdated.
  const old = { version: 9n, status: "delete_failed", errorCode: "internal_error" };
  await posts.reportDeletions([deletionOf(post, 1, old)]);
  expect((await workspace.reread(post)).targets[1]?.status).toBe("deleting");
});

test("repeating the deletion of a post while the first deletion is still running changes nothing", async () => {
  const { workspace, post } = await settled([["published"]]);
  const first = await posts.posts.deletePost(workspace.ref(post));
  expect(await posts.posts.deletePost(workspace.ref(post))).toEqual(first);
  expect(await workspace.events(post)).toHaveLength(4);
});

test("the answer to DeletePost explains in the client's language why a target was not deleted", async () => {
  const { workspace, post } = await settled([["failed", "outcome_unknown"], ["published"]]);
  posts.peers.accounts.delete(post.targets[1]?.accountId ?? "");
  const answers = [];
  for (const locale of ["en", "ko"])
    answers.push(await posts.posts.deletePost({ ...workspace.ref(post), locale }));
  const [english, korean] = answers.map(({ targets }) => targets.map(({ error }) => error));
  expect(english).toMatchObject([
    {
      code: "outcome_unknown",
      retryable: false,
      action: expect.stringMatching(/delete it by hand/),
    },
    {
      code: "account_disconnected",
      message: "The account was disconnected.",
      action: expect.stringMatching(/^Connect the account again/),
    },
  ]);
  expect(korean?.[1]).toMatchObject({
    message: "연결이 해제된 계정입니다.",
    action: expect.stringMatching(/ 뒤 DELETE \/posts\/\{id\}를 다시 보내 주세요\.$/),
  });
});

test("the sweep job sends the same deletion request again when the first deletion request was lost", async () => {
  const { workspace, post } = await settled([["published"]]);
  await posts.posts.deletePost(workspace.ref(post));
  const [, request] = (await posts.events()).at(-1) ?? [];
  await posts.sql`delete from outbox`;
  await posts.sweep();
  expect(await posts.events()).toContainEqual(["PostDeletionRequested", request]);

  const known = deletionOf(post, 0, { status: "deleted" });
  posts.peers.deletions.set(post.targets[0]?.id ?? "", known);
  await posts.sweep();
  expect(statusesOf(await workspace.reread(post))).toEqual(["deleted"]);
});

test("a publishing post can be deleted before the delivery service calls the platform, and is then not published", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.create({ accountIds: [workspace.connect(), workspace.connect()] });
  await posts.report([deliveryOf(post)(0, "published")]);
  const answer = await posts.posts.deletePost(workspace.ref(post));

  expect(answer.post?.status).toBe("cancelled");
  expect(answer.targets.map(({ status }) => status)).toEqual(["deleting", "not_published"]);
  expect(statusesOf(await workspace.reread(post))).toEqual(["deleting", "cancelled"]);
  await workspace.assertQuotaIsTrue();
  expect(await workspace.quota()).toEqual([1, 0]);
});

test("deleting a post is refused while the delivery service is calling a platform to publish it", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.create({ accountIds: [workspace.connect(), workspace.connect()] });
  posts.peers.calling.add(post.targets[1]?.id ?? "");

  await expect(posts.posts.deletePost(workspace.ref(post))).rejects.toMatchObject({
    reason: "post_publishing",
  });
  expect(await workspace.reread(post)).toEqual(post);
});

test("deleting a post that is being published changes nothing when the delivery service is unavailable", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.create();
  posts.peers.deliveryIsUp = false;
  await expect(posts.posts.deletePost(workspace.ref(post))).rejects.toMatchObject({
    kind: "unavailable",
  });
  expect(await workspace.reread(post)).toEqual(post);
});

test("deleting a post that is being published also deletes the targets that are already published", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.create();
  posts.peers.tasks.set(post.targets[0]?.id ?? "", deliveryOf(post)(0, "published"));
  const answer = await posts.posts.deletePost(workspace.ref(post));
  expect(answer.targets).toMatchObject([{ status: "deleting" }]);
  await workspace.assertQuotaIsTrue();
});

test("a deletion that also learns that a target was published waits for no quota counter while it holds a later one", async () => {
  const workspace = workspaceOf(posts);
  const accountIds = [workspace.connect("bluesky"), workspace.connect("bluesky")];
  const [first = "", second = ""] = accountIds;
  const post = await workspace.create({ accountIds });
  posts.peers.tasks.set(post.targets[1]?.id ?? "", deliveryOf(post)(1, "published"));

  const deletion = await posts.migrationSql.begin(async (tx) => {
    await tx`select from quota_usage where subject = ${first} for update`;
    const deleting = posts.posts.deletePost(workspace.ref(post));
    await expect
      .poll(
        () => tx`
          select
          from pg_stat_activity
          where pg_backend_pid() = any(pg_blocking_pids(pid))`,
      )
      .not.toHaveLength(0);
    await tx`select from quota_usage where subject = ${second} for update nowait`;
    return { deleting };
  });

  expect((await deletion.deleting).targets).toMatchObject([
    { status: "not_published" },
    { status: "deleting" },
  ]);
  await workspace.assertQuotaIsTrue();
});

test("a post whose deletion crashed after the delivery service had cancelled the targets is published with a new publish request", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.create();
  posts.peers.onCancel = () => Promise.reject(new Error("the process dies"));
  await expect(posts.posts.deletePost(workspace.ref(post))).rejects.toMatchObject({
    kind: "internal",
  });
  await posts.sql`delete from outbox`;

  await posts.sweep();
  expect((await workspace.reread(post)).status).toBe("publishing");
  expect(await posts.events()).toMatchObject([
    ["PostPublishRequested", { targets: [{ targetId: post.targets[0]?.id, generation: 2 }] }],
  ]);
  await workspace.assertQuotaIsTrue();
});

test("a target whose publishing is requested again while its post is being deleted is cancelled again in the delivery service", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.create();
  let rounds = 0;
  posts.peers.onCancel = async () => {
    rounds += 1;
    if (rounds === 1) await posts.sweep();
  };
  const answer = await posts.posts.deletePost(workspace.ref(post));
  expect(answer.post?.status).toBe("cancelled");
  const id = post.targets[0]?.id ?? "";
  expect([...posts.peers.closed]).toEqual([`${id} 1`, `${id} 2`]);
});

test("a target that is published after its post was cancelled is deleted at once, and the post stays cancelled", async () => {
  const { workspace, post, update } = await settled([["failed", "outcome_unknown"]]);
  await posts.posts.deletePost(workspace.ref(post));
  await posts.report([update(0, "publishing")]);
  expect(statusesOf(await workspace.reread(post))).toEqual(["failed"]);

  await posts.report([update(0, "published")]);
  expect(await workspace.reread(post)).toMatchObject({
    status: "cancelled",
    targets: [{ status: "deleting" }],
  });
  expect((await workspace.events(post)).at(-1)).toBe("PostDeletionRequested");
  await workspace.assertQuotaIsTrue();
});

test("when a target fails after its post was cancelled, it no longer counts towards the quota and its content may be posted again", async () => {
  const { workspace, post, update } = await settled([["failed", "outcome_unknown"]]);
  await posts.posts.deletePost(workspace.ref(post));
  const accountIds = [post.targets[0]?.accountId ?? ""];
  const again = () => workspace.create({ accountIds, content: post.content });
  expect(await workspace.quota()).toEqual([1, 0]);
  await expect(again()).rejects.toMatchObject({ reason: "duplicate_content" });

  const failure = update(0, "failed", { errorCode: "platform_unavailable" });
  await posts.report([failure]);
  const { version, ...after } = await workspace.reread(post);
  expect(after).toMatchObject({
    status: "cancelled",
    targets: [{ status: "failed", error: { code: "platform_unavailable" } }],
  });
  expect(await workspace.quota()).toEqual([0, 0]);
  await posts.report([failure]);
  expect((await workspace.reread(post)).version).toBe(version);
  await again();
  await workspace.assertQuotaIsTrue();
  const answer = await posts.posts.deletePost(workspace.ref(post));
  expect(answer.targets).toMatchObject([{ status: "not_published" }]);
});

test("a target of a cancelled post with an unknown outcome still counts towards the quota, and its content still counts as a duplicate", async () => {
  const { workspace, post, update } = await settled([["failed", "content_rejected"]]);
  await posts.posts.deletePost(workspace.ref(post));
  await posts.report([update(0, "failed", { errorCode: "outcome_unknown" })]);
  expect(await workspace.quota()).toEqual([1, 0]);
  await workspace.assertQuotaIsTrue();
});

test("a target that is published while its post is being deleted is deleted on its platform", async () => {
  for (let round = 0; round < 12; round += 1) {
    const { workspace, post, update } = await settled([["failed", "content_rejected"]]);
    await Promise.all([
      posts.posts.deletePost(workspace.ref(post)),
      posts.report([update(0, "published")]),
    ]);
    expect(await workspace.reread(post)).toMatchObject({
      status: "cancelled",
      targets: [{ status: "deleting" }],
    });
    const names = await workspace.events(post);
    expect(names.filter((name) => name === "PostDeletionRequested")).toHaveLength(1);
    await workspace.assertQuotaIsTrue();
  }
});

test("deleting a post with an outdated version changes nothing and cancels no target in the delivery service", async () => {
  const workspace = workspaceOf(posts);
  for (const post of [
    await workspace.create(),
    await workspace.draft(),
    await workspace.scheduled(),
  ]) {
    await expect(
      posts.posts.deletePost({ ...workspace.ref(post), ifVersion: 7n }),
    ).rejects.toMatchObject({ reason: "precondition_failed" });
    expect(await workspace.reread(post)).toEqual(post);
  }
  expect(posts.peers.closed.size).toBe(0);
});

test("a post cannot be deleted from another workspace, and a report that names another workspace is ignored", async () => {
  const { workspace, post } = await settled([["published"]]);
  const foreign = { workspaceId: newWorkspace(), id: post.id };
  await expect(posts.posts.deletePost(foreign)).rejects.toMatchObject({ reason: "not_found" });
  await posts.posts.deletePost(workspace.ref(post));
  const update = deletionOf({ ...post, workspaceId: foreign.workspaceId }, 0, {
    status: "deleted",
  });
  await posts.reportDeletions([update]);
  expect(statusesOf(await workspace.reread(post))).toEqual(["deleting"]);
});
