import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { newId } from "@postrider/shared/ids";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deliveryOf, newWorkspace, startPosts, type Posts } from "./fixture.ts";

let posts: Posts;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts[Symbol.asyncDispose]());

const refOf = (post: Post, ordinal: number, generation = 1) => ({
  workspaceId: post.workspaceId,
  targetId: post.targets[ordinal]?.id ?? "",
  generation,
});

test("BatchGetTargetContents returns each target with its own options, in the order of the request", async () => {
  const workspaceId = newWorkspace();
  const [x, bluesky, telegram] = ["x", "bluesky", "telegram"].map((platform) =>
    posts.peers.connectAccount(workspaceId, platform),
  ) as [string, string, string];
  const image = {
    id: newId(),
    workspaceId,
    status: "ready",
    kind: "image",
    contentType: "image/png",
    bytes: 99n,
    createdAt: timestampFromDate(new Date(0)),
  };
  posts.peers.media.push(image);
  const post = await posts.createPost({
    workspaceId,
    accountIds: [x, bluesky, telegram],
    mediaIds: [image.id],
    content: "for all",
    options: { bluesky: { content: "for bluesky" }, [telegram]: { content: "for this account" } },
  });

  const refs = [refOf(post, 2), refOf(post, 0), refOf(post, 1)];
  const { contents } = await posts.targets.batchGetTargetContents({ refs });

  expect(contents).toMatchObject([
    { ref: refs[0], wanted: true, text: "for this account", media: [image] },
    { ref: refs[1], wanted: true, text: "for all", media: [image] },
    { ref: refs[2], wanted: true, text: "for bluesky", media: [image] },
  ]);
});

test("BatchGetTargetContents returns content only for the newest publish request of a target that has no outcome yet", async () => {
  const workspaceId = newWorkspace();
  const accountIds = ["x", "telegram"].map((platform) =>
    posts.peers.connectAccount(workspaceId, platform),
  );
  const post = await posts.createPost({ workspaceId, accountIds });
  const update = deliveryOf(post);
  await posts.report([update(0, "published"), update(1, "publishing")]);

  const { contents } = await posts.targets.batchGetTargetContents({
    refs: [refOf(post, 0), refOf(post, 1), refOf(post, 1, 2), refOf(post, 1, 0), refOf(post, 5)],
  });

  expect(contents.map(({ wanted }) => wanted)).toEqual([false, true, false, false, false]);
});

test("BatchGetTargetContents returns no content for targets of a cancelled post", async () => {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  const post = await posts.createPost({ workspaceId, accountIds });
  await posts.sql`update posts set status = 'cancelled' where id = ${post.id}`;

  const { contents } = await posts.targets.batchGetTargetContents({ refs: [refOf(post, 0)] });

  expect(contents.map(({ wanted }) => wanted)).toEqual([false]);
});

test("BatchGetTargetContents rejects more than 500 targets", async () => {
  const refs = Array.from({ length: 501 }, () => ({
    workspaceId: newId(),
    targetId: newId(),
    generation: 1,
  }));

  await expect(posts.targets.batchGetTargetContents({ refs })).rejects.toMatchObject({
    reason: "invalid_request",
  });
});
