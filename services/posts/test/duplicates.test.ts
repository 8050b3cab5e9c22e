import { expect, test } from "vitest";
import { applyTargetUpdates } from "#src/operations/apply-target-updates.ts";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import { publishPost } from "./workspace.ts";

const posts = await startPostsForFile();

function request() {
  const workspaceId = newWorkspace();
  return { workspaceId, accountIds: [posts.peers.connectAccount(workspaceId, "x")] };
}

const REFUSED = { kind: "conflict", reason: "duplicate_content" };

test("exactly one of several concurrent posts with the same content is accepted", async () => {
  for (let round = 0; round < 10; round += 1) {
    const same = request();

    const results = await Promise.allSettled([1, 2, 3, 4].map(() => posts.createPost(same)));

    const refused = results.filter(({ status }) => status === "rejected");
    expect(refused).toHaveLength(3);
    for (const result of refused) expect(result).toMatchObject({ reason: REFUSED });
  }
});

test("concurrent posts that share accounts in opposite orders do not deadlock", async () => {
  const workspaceId = newWorkspace();
  const accountIds = Array.from({ length: 6 }, () => posts.peers.connectAccount(workspaceId, "x"));

  const results = await Promise.allSettled(
    Array.from({ length: 10 }, (_, index) =>
      posts.createPost({
        workspaceId,
        accountIds: index % 2 === 0 ? accountIds : accountIds.toReversed(),
      }),
    ),
  );

  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("a post with duplicate content is refused as a whole, and the error names the other post for each account", async () => {
  const workspaceId = newWorkspace();
  const [one = "", two = "", other = ""] = [1, 2, 3].map(() =>
    posts.peers.connectAccount(workspaceId, "x"),
  );
  const first = await posts.createPost({ workspaceId, accountIds: [one, two] });

  await expect(
    posts.createPost({ workspaceId, accountIds: [two, other, one] }),
  ).rejects.toMatchObject({
    ...REFUSED,
    violations: [
      { code: "duplicate_content", postId: first.id, accountId: two, platform: "x" },
      { code: "duplicate_content", postId: first.id, accountId: one, platform: "x" },
    ],
  });
  // The refused post has not taken a duplicate guard on its other account.
  await posts.createPost({ workspaceId, accountIds: [other] });
});

test.each([
  ["white space", "hello   world\n", " hello world"],
  ["Unicode composition", "caf\u00e9", "cafe\u0301"],
])("posts whose texts differ only in %s have duplicate content", async (_name, one, other) => {
  const same = request();
  await posts.createPost({ ...same, content: one });

  await expect(posts.createPost({ ...same, content: other })).rejects.toMatchObject(REFUSED);
});

test("posts whose texts differ in upper and lower case do not have duplicate content", async () => {
  const same = request();
  await posts.createPost({ ...same, content: "hello" });
  await posts.createPost({ ...same, content: "Hello" });
});

test("the check for duplicate content compares the text that a post option sets, not the text of the post", async () => {
  const same = request();
  await posts.createPost({ ...same, content: "a", options: { x: { content: "b" } } });

  await posts.createPost({ ...same, content: "a" });
  await expect(posts.createPost({ ...same, content: "b" })).rejects.toMatchObject(REFUSED);
});

test("a failed post does not prevent other posts with the same content, but a post with an unknown outcome does", async () => {
  const same = request();
  const update = deliveryOf(await posts.createPost(same));
  await posts.report([update(0, "failed", { errorCode: "outcome_unknown" })]);
  await expect(posts.createPost(same)).rejects.toMatchObject(REFUSED);

  await posts.report([update(0, "failed")]);
  await posts.createPost(same);
});

test("a published post prevents other posts with the same content for 24 hours", async () => {
  const same = request();
  const post = await posts.createPost(same);
  const [target] = post.targets;
  await posts.report([deliveryOf(post)(0, "published")]);
  const end = async () => {
    const [row] = await posts.sql<{ expiresAt: Date }[]>`
      select expires_at
      from duplicate_guards
      where target_id = ${target?.id ?? ""}`;
    return row?.expiresAt;
  };
  expect(await end()).toEqual(new Date(Date.UTC(2026, 0, 2, 0, 0, 10)));

  await posts.sql`
    update duplicate_guards
    set expires_at = now() + interval '1 minute'
    where target_id = ${target?.id ?? ""}`;
  await expect(posts.createPost(same)).rejects.toMatchObject(REFUSED);

  await posts.sql`
    update duplicate_guards
    set expires_at = now() - interval '1 second'
    where target_id = ${target?.id ?? ""}`;
  await posts.createPost(same);
});

test("a post that is created with `force` may repeat the content of another post, and prevents later posts with this content", async () => {
  const same = request();
  const first = await posts.createPost(same);
  const forced = await posts.createPost({ ...same, force: true });
  expect(forced.id).not.toBe(first.id);

  await posts.report([deliveryOf(first)(0, "failed")]);
  await expect(posts.createPost(same)).rejects.toMatchObject({
    ...REFUSED,
    violations: [{ postId: forced.id }],
  });

  await posts.report([deliveryOf(forced)(0, "failed")]);
  await posts.createPost(same);
});

test("a failed post that turns out to be still publishing blocks posts with the same content again, even if one was accepted meanwhile", async () => {
  const same = request();
  const first = await posts.createPost(same);
  const update = deliveryOf(first);
  await posts.report([update(0, "failed")]);
  const second = await posts.createPost(same);

  await posts.report([update(0, "publishing")]);
  await posts.report([deliveryOf(second)(0, "failed")]);

  await expect(posts.createPost(same)).rejects.toMatchObject({
    ...REFUSED,
    violations: [{ postId: first.id }],
  });
});

test("the check for duplicate content ignores drafts and the posts of other workspaces", async () => {
  const same = request();
  await posts.createPost({ ...same, isDraft: true });
  await posts.createPost({ ...same, isDraft: true });
  await posts.createPost(same);
  await posts.createPost({ ...same, isDraft: true });
  await posts.createPost(request());
});

test("the end of publishing changes the duplicate guard of a target without writing to its indexes", async () => {
  const post = await publishPost(posts, 20);
  const report = deliveryOf(post);
  const updates = post.targets.map((_target, ordinal) => report(ordinal, "published"));
  // The counters of a connection contain earlier transactions that it has not reported yet.
  const [before, after] = await posts.sql.begin(async (tx) => {
    const count = async () =>
      await tx<{ updated: number; unindexed: number }[]>`
        select
          pg_stat_get_xact_tuples_updated('duplicate_guards'::regclass)::int as updated,
          pg_stat_get_xact_tuples_hot_updated('duplicate_guards'::regclass)::int as unindexed`;
    const [first] = await count();
    await applyTargetUpdates(tx, updates);
    const [last] = await count();
    return [first, last];
  });
  expect((after?.updated ?? 0) - (before?.updated ?? 0)).toBe(20);
  expect((after?.unindexed ?? 0) - (before?.unindexed ?? 0)).toBeGreaterThan(0);
});
