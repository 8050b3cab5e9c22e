import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { afterAll, beforeAll, expect, test } from "vitest";
import { deliveryOf, newWorkspace, startPosts, type Posts } from "./fixture.ts";

let posts: Posts;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts[Symbol.asyncDispose]());

async function publish(count: number): Promise<Post> {
  const workspaceId = newWorkspace();
  const accountIds = Array.from({ length: count }, () =>
    posts.peers.connectAccount(workspaceId, "x"),
  );
  return await posts.createPost({ workspaceId, accountIds });
}

test("targets that end concurrently in several replicas settle their post exactly once", async () => {
  for (let round = 0; round < 10; round += 1) {
    const post = await publish(4);
    const update = deliveryOf(post);

    const ends = [0, 1, 2, 3].map((ordinal) =>
      update(ordinal, ordinal === 0 ? "failed" : "published"),
    );
    // News that comes after the end, in which a reader sees a difference, but the post's status stays.
    const later = [1, 2, 3].map((ordinal) =>
      update(ordinal, "published", { errorCode: "duplicate_detected" }),
    );
    await Promise.all([...ends, ...later].map((news) => posts.report([news])));

    expect(await posts.getPost(post.workspaceId, post.id)).toMatchObject({
      status: "partial",
    });
    const settled = (await posts.events()).filter(
      ([name, event]) => event.postId === post.id && name !== "PostPublishRequested",
    );
    expect(settled.map(([name]) => name)).toEqual(["PostPartial"]);
  }
});

test("concurrent batches of updates for the same posts in opposite orders do not deadlock", async () => {
  const made = await Promise.all(Array.from({ length: 10 }, () => publish(2)));
  const updates = made.flatMap((post) => {
    const update = deliveryOf(post);
    return [update(0, "published"), update(1, "published")];
  });

  await Promise.all([
    posts.report(updates),
    posts.report(updates.toReversed()),
    posts.report(updates),
    posts.sweep(),
    posts.report(updates.toReversed()),
  ]);

  for (const post of made) {
    expect(await posts.getPost(post.workspaceId, post.id)).toMatchObject({ status: "published" });
  }
});
