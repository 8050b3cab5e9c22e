import { afterAll, expect, test } from "vitest";
import { startPosts } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";
import { workspaceOf } from "./workspace.ts";

const posts = await startPosts();
posts.peers.available.add("facebook");
afterAll(() => posts[Symbol.asyncDispose]());

interface Update {
  readonly content?: string;
  readonly accountIds?: { readonly values: string[] };
  readonly mediaIds?: { readonly values: string[] };
}

const values = (...ids: string[]) => ({ values: ids });

const fieldsOf = ({ content, targets, mediaIds, options }: ShownPost) => ({
  content,
  accountIds: targets.map(({ accountId }) => accountId),
  mediaIds,
  options,
});

function applyTo(fields: ReturnType<typeof fieldsOf>, update: Update): ReturnType<typeof fieldsOf> {
  return {
    content: update.content ?? fields.content,
    accountIds: update.accountIds?.values ?? fields.accountIds,
    mediaIds: update.mediaIds?.values ?? fields.mediaIds,
    options: fields.options,
  };
}

/**
 * Sends all updates of one post at once and checks that each update is applied to the version
 * before its own.
 */
async function updateAtOnce(post: ShownPost, updates: readonly Update[]): Promise<ShownPost> {
  const { workspaceId, id } = post;
  const answers = await Promise.all(
    updates.map(async (update) => {
      const { post: answer } = await posts.posts.updatePost({ workspaceId, id, ...update });
      if (answer === undefined) throw new Error("the answer to an update has no post");
      return { update, answer };
    }),
  );
  const ordered = answers.toSorted((a, b) => Number(a.answer.version - b.answer.version));
  let fields = fieldsOf(post);
  for (const [index, { update, answer }] of ordered.entries()) {
    fields = applyTo(fields, update);
    expect(answer.version).toBe(post.version + BigInt(index + 1));
    expect(fieldsOf(answer)).toEqual(fields);
  }
  const last = await posts.getPost(workspaceId, id);
  expect(fieldsOf(last)).toEqual(fields);
  return last;
}

test("ten concurrent updates of the content of one draft all succeed, one after the other", async () => {
  const workspace = workspaceOf(posts);
  const updates = Array.from({ length: 10 }, (_, index) => ({ content: `content ${index}` }));

  const last = await updateAtOnce(await workspace.draft(), updates);

  expect(last.version).toBe(11n);
});

test("ten concurrent updates of different fields of one draft all succeed, and no update undoes another", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft();
  const updates = Array.from({ length: 10 }, (_, index): Update => {
    if (index % 3 === 0) return { content: `content ${index}` };
    if (index % 3 === 1) return { accountIds: values(workspace.connect(), workspace.connect()) };
    return { mediaIds: values(posts.peers.addMedia(workspace.workspaceId)) };
  });

  await updateAtOnce(post, updates);
});

test("ten concurrent updates of the media of one scheduled post leave one usage of media, recorded for the last post version", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.scheduled();
  const updates = Array.from({ length: 10 }, () => ({
    mediaIds: values(posts.peers.addMedia(workspace.workspaceId)),
  }));

  const last = await updateAtOnce(post, updates);

  const claims = posts.peers.used.filter(({ postId }) => postId === post.id);
  const [mediaId = ""] = last.mediaIds;
  expect(claims.filter(({ ids }) => ids.includes(mediaId)).at(-1)?.postVersion).toBe(last.version);
  await workspace.assertQuotaIsTrue();
});

test("of ten concurrent updates that expect the same version of a post, exactly one changes the post", async () => {
  const workspace = workspaceOf(posts);
  const post = await workspace.draft();
  const updates = Array.from({ length: 10 }, (_, index) =>
    posts.posts.updatePost({ ...workspace.ref(post), ifVersion: 1n, content: `content ${index}` }),
  );

  const results = await Promise.allSettled(updates);

  const refused = results.flatMap((result) =>
    result.status === "rejected" ? [String(result.reason.reason)] : [],
  );
  expect(refused).toEqual(Array(9).fill("precondition_failed"));
  expect((await workspace.reread(post)).version).toBe(2n);
});

test("an update reads a scheduled post again if its long text changed meanwhile, instead of counting the text while the post is locked", async () => {
  const workspace = workspaceOf(posts);
  const accountId = workspace.connect("facebook");
  const mediaIds = [posts.peers.addMedia(workspace.workspaceId)];
  const post = await workspace.scheduled({ accountIds: [accountId], mediaIds });
  const reads = () => posts.peers.used.filter(({ postId }) => postId === post.id).length;
  const readsBefore = reads();
  const content = "long text ".repeat(1_000);
  posts.peers.onUse = async () => {
    posts.peers.onUse = async () => undefined;
    await posts.posts.updatePost({ ...workspace.ref(post), content });
  };

  const accountIds = values(accountId, workspace.connect("facebook"));
  const { post: updated } = await posts.posts.updatePost({ ...workspace.ref(post), accountIds });

  expect(updated).toMatchObject({ version: 3n, content });
  // The update inside reads the post and its media once, and the update around it twice.
  expect(reads() - readsBefore).toBe(3);
});
