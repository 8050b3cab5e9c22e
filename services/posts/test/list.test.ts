import { afterAll, beforeAll, expect, test } from "vitest";
import { newWorkspace, startPosts, type Posts } from "./fixture.ts";

let posts: Posts;
beforeAll(async () => {
  posts = await startPosts();
});
afterAll(() => posts[Symbol.asyncDispose]());

function publisher(workspaceId: string) {
  const accountIds = [posts.neighbours.connectAccount(workspaceId, "x")];
  let count = 0;
  return async () => {
    count += 1;
    return await posts.createPost({ workspaceId, accountIds, content: `post ${count}` });
  };
}

test("posts are listed latest first, without their attempts", async () => {
  const workspaceId = newWorkspace();
  const publish = publisher(workspaceId);
  const first = await publish();
  const second = await publish();

  const page = await posts.posts.listPosts({ workspaceId, limit: 2 });

  expect(page.posts).toEqual([second, first]);
  expect(page.nextCursor).toBeUndefined();
});

test("walking the pages while posts are added meets every earlier post once", async () => {
  const workspaceId = newWorkspace();
  const publish = publisher(workspaceId);
  const earlier: string[] = [];
  for (let count = 0; count < 12; count += 1) earlier.push((await publish()).id);
  // Posts accepted in the same millisecond are told apart by their ids.
  await posts.sql`
    update posts
    set created_at = date_trunc('second', created_at)
    where workspace_id = ${workspaceId}`;

  const met: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await posts.posts.listPosts({
      workspaceId,
      limit: 5,
      ...(cursor === undefined ? {} : { cursor }),
    });
    met.push(...page.posts.map(({ id }) => id));
    cursor = page.nextCursor;
    await publish();
  } while (cursor !== undefined);

  expect(met).toHaveLength(12);
  expect(met.toSorted()).toEqual(earlier.toSorted());
});

test.each([0, 101, -1])("a page of %i is refused", async (limit) => {
  await expect(posts.posts.listPosts({ workspaceId: newWorkspace(), limit })).rejects.toMatchObject(
    {
      reason: "invalid_request",
    },
  );
});

test.each(["", "x", "AAAA"])("the cursor %j is refused", async (cursor) => {
  await expect(
    posts.posts.listPosts({ workspaceId: newWorkspace(), limit: 1, cursor }),
  ).rejects.toMatchObject({ kind: "invalid", reason: "invalid_cursor" });
});
