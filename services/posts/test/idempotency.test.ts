import { create, toBinary } from "@bufbuild/protobuf";
import { PostSchema } from "@postrider/contracts/posts/v1/post_pb";
import { newId } from "@postrider/shared/ids";
import { expect, test } from "vitest";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import { inHours } from "./workspace.ts";

const posts = await startPostsForFile();

function keyedRequest(key = "key-1", fingerprint = "body") {
  const workspaceId = newWorkspace();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  const idempotency = { key, fingerprint };
  return { workspaceId, accountIds, content: "once", createdVia: "rest", idempotency };
}

const countPosts = async (workspaceId: string) =>
  (await posts.posts.listPosts({ workspaceId, limit: 100 })).posts.length;

test("a repeated CreatePost request gets the response of the first request and creates no post", async () => {
  const request = keyedRequest();
  const first = await posts.posts.createPost(request);
  const events = (await posts.events()).length;

  const second = await posts.posts.createPost(request);

  expect(first.replayed).toBe(false);
  expect(second).toMatchObject({ replayed: true, post: first.post });
  expect(await countPosts(request.workspaceId)).toBe(1);
  expect(await posts.events()).toHaveLength(events);
});

test("a repeated CreatePost request gets the first response even after the post has changed", async () => {
  const request = keyedRequest();
  const { post: first } = await posts.posts.createPost(request);
  if (first !== undefined) await posts.report([deliveryOf(first)(0, "published")]);

  expect((await posts.posts.createPost(request)).post).toEqual(first);
});

test("a stored response that an import brought never speaks for another workspace, whose media URLs the gateway would sign", async () => {
  const request = keyedRequest();
  await posts.posts.createPost(request);
  const forged = create(PostSchema, { id: newId(), workspaceId: newWorkspace(), json: "{}" });
  await posts.sql`
    update idempotency_keys
    set response = ${toBinary(PostSchema, forged)}
    where workspace_id = ${request.workspaceId}`;

  const { replayed, post } = await posts.posts.createPost(request);
  expect([replayed, post?.workspaceId]).toEqual([true, request.workspaceId]);
});

test("a repeated CreatePost request gets the first response even if the same post would be refused now", async () => {
  const request = keyedRequest();
  const { post: first } = await posts.posts.createPost(request);
  posts.peers.accounts.delete(request.accountIds[0] ?? "");

  expect(await posts.posts.createPost(request)).toMatchObject({ replayed: true, post: first });
});

test("an idempotency key that was used with another request body is refused, whether or not the new body is valid", async () => {
  const request = keyedRequest();
  await posts.posts.createPost(request);
  const idempotency = { key: "key-1", fingerprint: "other" };

  for (const content of ["other", ""])
    await expect(
      posts.posts.createPost({ ...request, content, idempotency }),
    ).rejects.toMatchObject({
      kind: "unprocessable",
      reason: "idempotency_key_reused",
    });
});

test("a refused CreatePost request does not use up its idempotency key", async () => {
  const request = keyedRequest();

  await expect(posts.posts.createPost({ ...request, content: "" })).rejects.toMatchObject({
    reason: "validation_failed",
  });
  expect((await posts.posts.createPost(request)).replayed).toBe(false);
});

test("an idempotency key can be used again after 24 hours", async () => {
  const request = keyedRequest();
  const { post: first } = await posts.posts.createPost(request);
  // The duplicate guard of the first post would refuse a second post with the same content, so the
  // test deletes it.
  await posts.sql`delete from duplicate_guards`;
  await posts.sql`
    update idempotency_keys
    set created_at = created_at - interval '25 hours'
    where workspace_id = ${request.workspaceId}`;

  const again = await posts.posts.createPost(request);

  expect(again.replayed).toBe(false);
  expect(again.post?.id).not.toBe(first?.id);
  expect((await posts.posts.createPost(request)).post?.id).toBe(again.post?.id);
});

test("two concurrent CreatePost requests with one idempotency key create one post", async () => {
  const request = keyedRequest();

  const answers = await Promise.all([
    posts.posts.createPost(request),
    posts.posts.createPost(request),
  ]);

  expect(answers.filter(({ replayed }) => replayed)).toHaveLength(1);
  expect(new Set(answers.map(({ post }) => post?.id)).size).toBe(1);
  expect(await countPosts(request.workspaceId)).toBe(1);
});

test("a CreatePost request waits 2 seconds for a concurrent request with the same idempotency key and is then refused", async () => {
  const request = keyedRequest();
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>();
  const { promise: holding, resolve: hold } = Promise.withResolvers<void>();
  const holder = posts.sql.begin(async (tx) => {
    await tx`
      insert into idempotency_keys (workspace_id, operation, key, fingerprint, response)
      values (${request.workspaceId}, 'CreatePost', 'key-1', 'body', '')`;
    hold();
    await finished;
    throw new Error("the holder crashes");
  });
  await holding;

  await expect(posts.posts.createPost(request)).rejects.toMatchObject({
    kind: "conflict",
    reason: "idempotency_conflict",
    retryAfterMs: 1000,
  });
  const waiting = posts.posts.createPost(request);
  finish();
  await expect(holder).rejects.toThrow("the holder crashes");

  expect((await waiting).replayed).toBe(false);
  expect(await countPosts(request.workspaceId)).toBe(1);
});

test("a repeated CreatePost request gets the response of the first request even after the post was deleted", async () => {
  const { workspaceId, ...rest } = keyedRequest();
  const request = { ...rest, workspaceId, scheduledAt: inHours(24) };
  const { post: first } = await posts.posts.createPost(request);
  await posts.posts.deletePost({ workspaceId, id: first?.id ?? "" });

  expect(await posts.posts.createPost(request)).toMatchObject({ replayed: true, post: first });
  expect(await countPosts(workspaceId)).toBe(0);
});
