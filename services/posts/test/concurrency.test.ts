import { expect, test } from "vitest";
import { deliveryOf, startPostsForFile } from "./fixture.ts";
import { publishPost } from "./workspace.ts";

const posts = await startPostsForFile();

const publish = (targetCount: number) => publishPost(posts, targetCount);

test("one event announces the outcome of a post when several replicas store the outcomes of its targets at the same time", async () => {
  for (let round = 0; round < 10; round += 1) {
    const post = await publish(4);
    const update = deliveryOf(post);

    const ends = [0, 1, 2, 3].map((ordinal) =>
      update(ordinal, ordinal === 0 ? "failed" : "published"),
    );
    // These target updates, which are reported after the others, change data that the API shows,
    // but not the status of the post.
    const later = [1, 2, 3].map((ordinal) =>
      update(ordinal, "published", { errorCode: "duplicate_detected" }),
    );
    await Promise.all([...ends, ...later].map((each) => posts.report([each])));

    expect(await posts.getPost(post.workspaceId, post.id)).toMatchObject({
      status: "partial",
    });
    const settled = (await posts.events()).filter(
      ([name, event]) => event.postId === post.id && name !== "PostPublishRequested",
    );
    expect(settled.map(([name]) => name)).toEqual(["PostPartial"]);
  }
});

test("concurrent batches of reports about the same posts in opposite orders do not deadlock", async () => {
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

  for (const post of made)
    expect(await posts.getPost(post.workspaceId, post.id)).toMatchObject({ status: "published" });
});
