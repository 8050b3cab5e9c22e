import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newWorkspace, startPosts, type Posts } from "./fixture.ts";

let posts: Posts;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts[Symbol.asyncDispose]());

test("a repeated CreatePost request gets the response of the first request even after the post was deleted", async () => {
  const workspaceId = newWorkspace();
  const request = {
    workspaceId,
    accountIds: [posts.peers.connectAccount(workspaceId, "bluesky")],
    content: "deleted",
    scheduledAt: timestampFromDate(new Date(Date.now() + 86_400_000)),
    createdVia: "rest",
    idempotency: { key: "deleted", fingerprint: "body" },
  };
  const { post: first } = await posts.posts.createPost(request);
  await posts.posts.deletePost({ workspaceId, id: first?.id ?? "" });

  expect(await posts.posts.createPost(request)).toMatchObject({ replayed: true, post: first });
  const { posts: left } = await posts.posts.listPosts({ workspaceId, limit: 100 });
  expect(left).toEqual([]);
});
