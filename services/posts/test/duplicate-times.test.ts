import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { eventually } from "@postrider/shared/testing/poll";
import { describe, expect, test } from "vitest";
import { deliveryOf, startPostsForFile } from "./fixture.ts";
import { workspaceOf } from "./workspace.ts";

const HOUR_MS = 3_600_000;

const posts = await startPostsForFile();

/** Creates a workspace with an account, and functions that post the same text on it. */
function samePosts() {
  const workspace = workspaceOf(posts);
  const same = { accountIds: [workspace.connect()], content: "every Saturday" };
  const startMs = Math.floor(Date.now() / 1_000) * 1_000 + 100 * HOUR_MS;
  const at = (hours: number) => timestampFromMs(startMs + hours * HOUR_MS);
  return {
    ...workspace,
    at,
    now: (change = {}) => workspace.create({ ...same, ...change }),
    after: (hours: number, change = {}) =>
      workspace.create({ ...same, scheduledAt: at(hours), ...change }),
  };
}

const refusal = (post: { readonly id: string }, plannedAt?: object) => ({
  kind: "conflict",
  reason: "duplicate_content",
  violations: [
    {
      code: "duplicate_content",
      postId: post.id,
      ...(plannedAt === undefined ? {} : { plannedAt }),
    },
  ],
});

describe("two posts with the same content on one account", () => {
  test("are accepted for three Saturdays, and for the same time of the next day", async () => {
    const { after } = samePosts();
    await after(0);
    await after(7 * 24);
    await after(14 * 24);
    await after(24);
    await after(-24);
  });

  test.each([0, 23.99, -23.99])(
    "clash when the second is due %d hours after the first, and the error says with which post and when that is due",
    async (hours) => {
      const { after, at } = samePosts();
      const first = await after(0);
      await expect(after(hours)).rejects.toMatchObject(refusal(first, at(0)));
      await after(hours, { force: true });
    },
  );

  test.each([0, 6, 13, 23.9])(
    "are never both accepted at the same moment when they are due %d hours apart",
    async (hours) => {
      for (let round = 0; round < 5; round++) {
        const { after } = samePosts();
        const results = await Promise.allSettled([0, hours, 0, hours].map((each) => after(each)));
        const accepted = results.filter(({ status }) => status === "fulfilled");
        expect(accepted).toHaveLength(1);
      }
    },
  );

  test("clash when one is published now and the other is due within 24 hours", async () => {
    const { now } = samePosts();
    const first = await now();
    const inHours = (hours: number) => ({
      scheduledAt: timestampFromMs(Date.now() + hours * HOUR_MS),
    });
    await expect(now(inHours(23))).rejects.toMatchObject(refusal(first));
    const second = await now(inHours(25));
    expect(second.status).toBe("scheduled");
  });

  test("clash when the other was published less than 24 hours before the planned time", async () => {
    const { now, after } = samePosts();
    const first = await now();
    await posts.report([deliveryOf(first)(0, "published")]);
    const [target] = first.targets;
    await posts.sql`
      update duplicate_guards
      set expires_at = now() + interval '1 hour'
      where target_id = ${target?.id ?? ""}`;
    await expect(now()).rejects.toMatchObject(refusal(first));
    await after(-98);
  });

  test("wait for each other before they lock the quota that other changes of their workspace need", async () => {
    const { after } = samePosts();
    const first = await after(0);
    const [guard] = await posts.sql<{ workspaceId: string }[]>`
      select workspace_id, account_id, content_hash
      from duplicate_guards
      where target_id = ${first.targets[0]?.id ?? ""}`;
    if (guard === undefined) throw new Error("the first post has no guard");
    const { workspaceId } = guard;
    // A request that changes a post locks its guards first and then the quota counters.
    const second = await posts.sql.begin(async (tx) => {
      await tx`
        select lock_guard(account_id, content_hash)
        from duplicate_guards
        where workspace_id = ${workspaceId}`;
      const created = Promise.allSettled([after(48)]);
      await eventually(async () => {
        const waiting = await posts.sql`
          select 1
          from pg_locks
          where locktype = 'advisory'
          and not granted
          and database = (select oid from pg_database where datname = current_database())`;
        return waiting.length > 0;
      });
      await tx`select 1 from quota_usage where workspace_id = ${workspaceId} for update`;
      return { created };
    });
    expect(await second.created).toMatchObject([{ status: "fulfilled" }]);
  });
});

describe("a change of the time of a post", () => {
  test("is refused when it comes within 24 hours of another post with the same content, and changes nothing", async () => {
    const { after, at, ref, reread } = samePosts();
    const [first, second] = [await after(0), await after(48)];
    const move = (hours: number) =>
      posts.posts.updatePost({ ...ref(second), scheduledAt: at(hours) });
    await expect(move(23)).rejects.toMatchObject(refusal(first, at(0)));
    expect(await reread(second)).toEqual(second);
    await move(25);
    await expect(after(40)).rejects.toMatchObject(refusal(second, at(25)));
    await after(50);
  });

  test("is compared again when the post is published now, unless the post was forced", async () => {
    const { after, now, ref } = samePosts();
    const first = await now();
    const [second, forced] = [await after(0), await after(1, { force: true })];
    await expect(posts.posts.publishPost(ref(second))).rejects.toMatchObject(refusal(first));
    const { post } = await posts.posts.publishPost(ref(forced));
    expect(post?.status).toBe("publishing");
  });
});
