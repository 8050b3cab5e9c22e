import type { Post } from "@postrider/contracts/posts/v1/post_pb";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { deliveryOf, startPosts, type Posts } from "./fixture.ts";
import { publishPost } from "./workspace.ts";

let posts: Posts;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts[Symbol.asyncDispose]());
beforeEach(async () => {
  await posts.sql`truncate posts, outbox cascade`;
  posts.peers.tasks.clear();
  posts.peers.askedTargets.length = 0;
  posts.peers.deliveryIsUp = true;
});

const publish = (targetCount: number) => publishPost(posts, targetCount);

const reread = (post: Post) => posts.getPost(post.workspaceId, post.id);

test("the sweep job repeats the publish request of targets that the delivery service does not know", async () => {
  const post = await publish(2);
  const [request] = await posts.events();
  await posts.sql`delete from outbox`;

  await posts.sweep();

  expect(await posts.events()).toEqual([request]);
  expect(await reread(post)).toEqual(post);
});

test("the sweep job repeats publish requests only for targets without an outcome", async () => {
  const post = await publish(3);
  const update = deliveryOf(post);
  await posts.report([update(0, "published"), update(1, "failed")]);
  await posts.sql`delete from outbox`;

  await posts.sweep();

  const [[name, event] = []] = await posts.events();
  expect(name).toBe("PostPublishRequested");
  expect(event).toMatchObject({ version: 2n, targets: [{ targetId: post.targets[2]?.id }] });
});

test("the sweep job applies the answers of the delivery service like events", async () => {
  const post = await publish(1);
  posts.peers.tasks.set(post.targets[0]?.id ?? "", deliveryOf(post)(0, "published"));

  await posts.sweep();

  expect(await reread(post)).toMatchObject({
    status: "published",
    targets: [{ status: "published", permalink: "https://example.test/0" }],
  });
  expect((await posts.events()).map(([name]) => name)).toEqual([
    "PostPublishRequested",
    "PostPublished",
  ]);
});

test("the sweep job also asks the delivery service about failed targets with an unknown outcome", async () => {
  const post = await publish(1);
  const update = deliveryOf(post);
  await posts.report([update(0, "failed", { errorCode: "outcome_unknown" })]);
  posts.peers.tasks.set(post.targets[0]?.id ?? "", update(0, "published"));

  await posts.sweep();

  expect((await reread(post)).status).toBe("published");
});

test("the sweep job does not ask the delivery service about targets with a final outcome or with a recent report", async () => {
  const settled = await publish(2);
  const update = deliveryOf(settled);
  await posts.report([update(0, "published"), update(1, "failed")]);
  await publish(1);

  expect(await posts.sweep(120_000)).toBe(0);
  expect(posts.peers.askedTargets).toHaveLength(0);
});

test("concurrent sweep jobs ask the delivery service about each target once", async () => {
  await publish(60);
  await publish(60);

  await posts.sql`update targets set last_news_at = now() - interval '1 hour'`;

  const counts = await Promise.all([1, 2, 3].map(() => posts.sweep(60_000)));

  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(120);
  expect(new Set(posts.peers.askedTargets.map(({ targetId }) => targetId)).size).toBe(120);
});

test("the sweep job changes nothing while the delivery service is unavailable, and asks again later", async () => {
  const post = await publish(1);
  posts.peers.deliveryIsUp = false;
  await expect(posts.sweep()).rejects.toMatchObject({ kind: "unavailable" });

  posts.peers.deliveryIsUp = true;
  posts.peers.tasks.set(post.targets[0]?.id ?? "", deliveryOf(post)(0, "published"));
  await posts.sweep();

  expect((await reread(post)).status).toBe("published");
});
