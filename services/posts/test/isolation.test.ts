import { create } from "@bufbuild/protobuf";
import { TargetUpdatedSchema } from "@postrider/contracts/delivery/v1/delivery_events_pb";
import { expect, test } from "vitest";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";

const posts = await startPostsForFile();

async function publishIn(workspaceId: string) {
  return await posts.createPost({
    workspaceId,
    accountIds: [posts.peers.connectAccount(workspaceId, "x")],
  });
}

test("a post of another workspace is reported as not found", async () => {
  const post = await publishIn(newWorkspace());

  for (const id of [post.id, newWorkspace(), "nonsense"])
    await expect(posts.posts.getPost({ workspaceId: newWorkspace(), id })).rejects.toMatchObject({
      kind: "not_found",
      reason: "not_found",
    });
});

test("the statuses of posts are returned only for posts of the named workspace", async () => {
  const workspaceId = newWorkspace();
  const [post, other] = [await publishIn(workspaceId), await publishIn(newWorkspace())];
  const refs = [
    { workspaceId, id: post.id },
    { workspaceId, id: other.id },
    { workspaceId, id: newWorkspace() },
    { workspaceId, id: "nonsense" },
  ];

  const { statuses } = await posts.posts.batchGetPostStatuses({ refs });

  expect(statuses.map(({ ref, status }) => [ref?.workspaceId, ref?.id, status])).toEqual([
    [workspaceId, post.id, "publishing"],
  ]);
  await expect(
    posts.posts.batchGetPostStatuses({ refs: Array(1001).fill(refs[0]) as typeof refs }),
  ).rejects.toMatchObject({ reason: "invalid_request" });
});

test("a list of posts and its cursor return only the posts of their own workspace", async () => {
  const [mine, yours] = [newWorkspace(), newWorkspace()];
  for (const workspaceId of [mine, mine, yours]) await publishIn(workspaceId);

  const page = await posts.posts.listPosts({ workspaceId: mine, limit: 1 });
  const all = await posts.posts.listPosts({ workspaceId: yours, limit: 100 });

  expect(all.posts).toHaveLength(1);
  expect(page.nextCursor).toBeDefined();
  await expect(
    posts.posts.listPosts({ workspaceId: yours, limit: 1, cursor: page.nextCursor ?? "" }),
  ).rejects.toMatchObject({ kind: "invalid", reason: "invalid_cursor" });
});

test("an account of another workspace is reported as unknown", async () => {
  const foreign = posts.peers.connectAccount(newWorkspace(), "x");
  const workspaceId = newWorkspace();

  for (const accountId of [foreign, newWorkspace()])
    await expect(posts.createPost({ workspaceId, accountIds: [accountId] })).rejects.toMatchObject({
      reason: "validation_failed",
      violations: [
        expect.objectContaining({ code: "unknown_account", path: "/accountIds/0", accountId }),
      ],
    });
});

test("the content of a target is returned only for its own workspace", async () => {
  const post = await publishIn(newWorkspace());
  const targetId = post.targets[0]?.id ?? "";

  const { contents } = await posts.targets.batchGetTargetContents({
    refs: [
      { workspaceId: newWorkspace(), targetId, generation: 1 },
      { workspaceId: post.workspaceId, targetId, generation: 1 },
    ],
  });

  expect(contents.map(({ wanted, text }) => [wanted, text])).toEqual([
    [false, ""],
    [true, "hello"],
  ]);
});

test("a target update that names another workspace or another post is ignored", async () => {
  const [post, other] = [await publishIn(newWorkspace()), await publishIn(newWorkspace())];
  const update = deliveryOf(post)(0, "published");

  await posts.report([
    create(TargetUpdatedSchema, { ...update, workspaceId: other.workspaceId }),
    create(TargetUpdatedSchema, { ...update, workspaceId: other.workspaceId, postId: other.id }),
  ]);

  expect(await posts.getPost(post.workspaceId, post.id)).toEqual(post);
  expect(await posts.getPost(other.workspaceId, other.id)).toEqual(other);
});

test("the same idempotency key in two workspaces belongs to two requests", async () => {
  const idempotency = { key: "shared", fingerprint: "a" };
  const made = [];
  for (const workspaceId of [newWorkspace(), newWorkspace()]) {
    const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
    made.push(await posts.createPost({ workspaceId, accountIds, idempotency }));
  }

  expect(new Set(made.map(({ id }) => id)).size).toBe(2);
});
