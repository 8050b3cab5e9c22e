import { randomBytes } from "node:crypto";
import { describe, expect, test } from "vitest";
import { startPostsForFile } from "./fixture.ts";
import { workspaceOf } from "./workspace.ts";

const posts = await startPostsForFile();

/** A text that Postgres cannot compress. */
const longText = (bytes: number) => randomBytes(bytes / 2).toString("hex");

async function setLimits(
  workspaceId: string,
  { drafts, bytes }: { drafts?: number; bytes?: number },
) {
  await posts.limits.setPostLimits({
    workspaceId,
    ...(drafts === undefined ? {} : { drafts: BigInt(drafts) }),
    ...(bytes === undefined ? {} : { bytes: BigInt(bytes) }),
  });
}

async function usageOf(workspaceId: string) {
  const [row] = await posts.sql<{ drafts: number; bytes: number }[]>`
    select drafts, bytes from post_usage where workspace_id = ${workspaceId}`;
  return row === undefined ? undefined : { ...row };
}

const refusal = (code: string, limit: number, actual: number) => ({
  reason: "validation_failed",
  violations: [{ code, limit, actual }],
});

describe("the drafts of a workspace", () => {
  test("are limited, also when many are created at the same time, and a deleted or scheduled draft makes room", async () => {
    const workspace = workspaceOf(posts);
    const { workspaceId } = workspace;
    await setLimits(workspaceId, { drafts: 5 });
    const accountIds = [workspace.connect()];
    const drafts = await Promise.allSettled(
      Array.from({ length: 20 }, () => workspace.draft({ accountIds, content: "hi" })),
    );
    const made = drafts.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    expect(made).toHaveLength(5);
    const refused = drafts.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    expect(refused).toMatchObject(Array(15).fill(refusal("too_many_drafts", 5, 5)));
    await posts.posts.deletePost(workspace.ref(made[0] ?? (await workspace.draft())));
    await workspace.draft({ accountIds, content: "room again" });
    await expect(workspace.draft({ accountIds })).rejects.toMatchObject(
      refusal("too_many_drafts", 5, 5),
    );
    await workspace.scheduled({ accountIds, content: "a scheduled post is not a draft" });
    const {
      posts: [draft],
    } = await posts.posts.listPosts({
      workspaceId,
      status: "draft",
      limit: 1,
    });
    await posts.posts.publishPost({ workspaceId, id: draft?.id ?? "" });
    await workspace.draft({ accountIds, content: "room after publishing" });
    expect(await usageOf(workspaceId)).toEqual({ drafts: 5, bytes: 0 });
  });
});

test("an operator sees the limits and the use of a workspace, and a limit that is not given stays as it is", async () => {
  const workspace = workspaceOf(posts);
  const { workspaceId } = workspace;
  const accountIds = [workspace.connect("telegram")];
  await workspace.draft({ accountIds, content: longText(10_000) });
  const use = { workspaceId, drafts: 1n, bytes: 10_004n };
  const read = async () => (await posts.limits.getPostLimits({ workspaceId })).limits;
  expect(await read()).toMatchObject({
    ...use,
    maxDrafts: 10_000n,
    hasDefaultDrafts: true,
    maxBytes: 1_000_000_000n,
    hasDefaultBytes: true,
  });
  await setLimits(workspaceId, { drafts: 7 });
  await setLimits(workspaceId, { bytes: 8 });
  const limited = { maxDrafts: 7n, hasDefaultDrafts: false, maxBytes: 8n, hasDefaultBytes: false };
  expect(await read()).toMatchObject({ ...use, ...limited });
  await posts.limits.setPostLimits({ workspaceId, reset: true });
  expect(await read()).toMatchObject({ maxDrafts: 10_000n, maxBytes: 1_000_000_000n });
});

test.each([
  [{ workspaceId: "x", drafts: 1n }, "/workspaceId"],
  [{ drafts: -1n }, "/drafts"],
  [{ drafts: 2_147_483_648n }, "/drafts"],
  [{ bytes: -1n }, "/bytes"],
  [{ bytes: 9_007_199_254_740_992n }, "/bytes"],
])("the limits %o are refused", async (change, path) => {
  const request = { workspaceId: workspaceOf(posts).workspaceId, ...change };
  await expect(posts.limits.setPostLimits(request)).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ path }],
  });
});

describe("the bytes of the posts of a workspace", () => {
  test("are limited when posts are created and when they are updated, and small posts are always accepted", async () => {
    const workspace = workspaceOf(posts);
    const { workspaceId } = workspace;
    await setLimits(workspaceId, { bytes: 25_000 });
    const accountIds = [workspace.connect("telegram")];
    const first = await workspace.draft({ accountIds, content: longText(10_000) });
    await workspace.draft({ accountIds, content: longText(10_000) });
    await expect(workspace.draft({ accountIds, content: longText(10_000) })).rejects.toMatchObject(
      refusal("post_storage", 25_000, 20_008),
    );
    await expect(
      posts.posts.updatePost({ ...workspace.ref(first), content: longText(20_000) }),
    ).rejects.toMatchObject(refusal("post_storage", 25_000, 20_008));
    await workspace.draft({ accountIds, content: "small" });
    await posts.posts.deletePost(workspace.ref(first));
    await workspace.draft({ accountIds, content: longText(10_000) });
    expect(await usageOf(workspaceId)).toEqual({ drafts: 3, bytes: 20_008 });
  });

  test("count what is kept of a changed or deleted post for repeated requests, and never stop a deletion", async () => {
    const workspace = workspaceOf(posts);
    const { workspaceId } = workspace;
    const accountIds = [workspace.connect("telegram")];
    const keyed = (key: string) => ({ idempotency: { key, fingerprint: key } });
    const content = longText(10_000);
    const deleted = await workspace.draft({ accountIds, content, ...keyed("deleted") });
    const changed = await workspace.draft({ accountIds, content, ...keyed("changed") });
    await setLimits(workspaceId, { bytes: 0 });
    await posts.posts.updatePost({ ...workspace.ref(changed), content: "short now" });
    await posts.posts.deletePost(workspace.ref(deleted));
    const { bytes = 0 } = (await usageOf(workspaceId)) ?? {};
    expect(bytes).toBeGreaterThan(20_000);
    expect(bytes).toBeLessThan(22_000);
  });
});

describe("a repeated CreatePost request with a long text gets the response of the first request", () => {
  const cases = {
    "while the post is unchanged": async () => {},
    "after the text was changed twice": async (ref: { workspaceId: string; id: string }) => {
      await posts.posts.updatePost({ ...ref, content: "changed" });
      await posts.posts.updatePost({ ...ref, content: longText(9_000) });
    },
    "after the options were removed": async (ref: { workspaceId: string; id: string }) => {
      await posts.posts.updatePost({ ...ref, options: "{}" });
    },
    "after the post was published": async (ref: { workspaceId: string; id: string }) => {
      await posts.posts.updatePost({ ...ref, content: "short enough", options: "{}" });
      await posts.posts.publishPost(ref);
    },
    "after the post was deleted": async (ref: { workspaceId: string; id: string }) => {
      await posts.posts.deletePost(ref);
    },
  };

  test.each(Object.entries(cases))(
    "%s, and the response is not stored twice",
    async (_, change) => {
      const workspace = workspaceOf(posts);
      const { workspaceId } = workspace;
      const request = {
        workspaceId,
        accountIds: [workspace.connect("telegram")],
        content: longText(10_000),
        options: JSON.stringify({ telegram: { content: longText(5_000), tags: [] } }),
        isDraft: true,
        createdVia: "rest",
        idempotency: { key: "again", fingerprint: "body" },
      };
      const { post } = await posts.posts.createPost(request);
      const [stored] = await posts.sql<{ bytes: number }[]>`
      select octet_length(response) as bytes from idempotency_keys where workspace_id = ${workspaceId}`;
      expect(stored?.bytes).toBeLessThan(1_000);
      await change({ workspaceId, id: post?.id ?? "" });
      expect(await posts.posts.createPost(request)).toMatchObject({ replayed: true, post });
    },
  );
});
