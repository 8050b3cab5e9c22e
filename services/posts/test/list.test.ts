import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { toPostSummary } from "@postrider/rest/posts/mapping";
import { expect, test } from "vitest";
import { listPostsUpTo } from "#src/db/list-posts-up-to.ts";
import { deliveryOf, newWorkspace, startPostsForFile } from "./fixture.ts";
import type { ShownPost } from "./shown-posts.ts";

const posts = await startPostsForFile();

function publisher(workspaceId: string) {
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  let count = 0;
  return async () => {
    count += 1;
    return await posts.createPost({ workspaceId, accountIds, content: `post ${count}` });
  };
}

/** Returns the ids of all posts, read in pages of five; `afterPage` runs after each page. */
async function listAll(
  filter: { readonly workspaceId: string; readonly platform?: string },
  afterPage: () => Promise<void>,
): Promise<readonly string[]> {
  const met: string[] = [];
  let cursor: string | null = null;
  do {
    const page = await posts.posts.listPosts({
      ...filter,
      limit: 5,
      ...(cursor === null ? {} : { cursor }),
    });
    met.push(...page.posts.map(({ id }) => id));
    cursor = page.nextCursor;
    await afterPage();
  } while (cursor !== null);
  return met;
}

/** Returns the fields of a post that a list of posts shows. */
const summaryOf = ({
  workspaceId: _workspaceId,
  version: _version,
  media: _media,
  ...post
}: ShownPost) => toPostSummary({ ...post, media: [] });

test("ListPosts returns the latest post first, and of each post only the fields that a list shows", async () => {
  const workspaceId = newWorkspace();
  const publish = publisher(workspaceId);
  const first = await publish();
  const second = await publish();
  await posts.report([deliveryOf(first)(0, "published")]);
  await posts.report([deliveryOf(second)(0, "failed")]);
  const read = async ({ id }: ShownPost) => {
    const { post } = await posts.posts.getPost({ workspaceId, id });
    if (post === undefined) throw new Error("the post is missing");
    return summaryOf(post);
  };

  const page = await posts.posts.listPosts({ workspaceId, limit: 2 });

  expect(JSON.stringify(page.posts)).toBe(JSON.stringify([await read(second), await read(first)]));
  expect(page.posts[1]?.targets[0]?.permalink).toBe("https://example.test/0");
  expect(page.posts[0]?.targets[0]?.errorCode).toBe("content_rejected");
  expect(page.nextCursor).toBeNull();
});

const MEBIBYTE = 1024 * 1024;

/**
 * Creates a draft for each of the given text lengths, in this order, and returns the ids of the
 * drafts.
 */
async function draft(workspaceId: string, lengths: readonly number[]): Promise<readonly string[]> {
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  const ids: string[] = [];
  for (const length of lengths) {
    const content = "x".repeat(length);
    ids.push((await posts.createPost({ workspaceId, accountIds, content, isDraft: true })).id);
  }
  return ids;
}

/** Reads all pages of a list and returns the ids of the posts on each page. */
async function pagesOf(workspaceId: string, limit: number): Promise<readonly string[][]> {
  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const after = cursor === null ? {} : { cursor };
    const page = await posts.posts.listPosts({ workspaceId, limit, ...after });
    pages.push(page.posts.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);
  return pages;
}

test("a page of long posts ends before 512 KiB with a cursor, and the pages together have every post once", async () => {
  const workspaceId = newWorkspace();
  const ids = await draft(workspaceId, Array<number>(20).fill(64_000));

  const pages = await pagesOf(workspaceId, 100);

  expect(pages.map((page) => page.length)).toEqual([8, 8, 4]);
  expect(pages.flat()).toEqual(ids.toReversed());
});

test("900 short posts, as in the month of a busy calendar, are one page", async () => {
  const workspaceId = newWorkspace();
  const [first = ""] = await draft(workspaceId, [1]);
  await posts.sql`
    with copies as (
      insert into posts (id, workspace_id, status, content, options, media_ids, media, created_via, created_at, updated_at)
      select gen_random_uuid(), workspace_id, status, content, options, media_ids, media, created_via, created_at, updated_at
      from posts
      cross join generate_series(2, 900)
      where id = ${first}
      returning id
    )
    insert into targets (id, workspace_id, post_id, ordinal, account_id, platform, username, status, generation, last_report_at, updated_at)
    select gen_random_uuid(), workspace_id, copies.id, ordinal, account_id, platform, username, status, generation, last_report_at, updated_at
    from targets, copies
    where post_id = ${first}`;

  expect((await pagesOf(workspaceId, 1_000)).map((page) => page.length)).toEqual([900]);
});

test("a page of posts has at least one post, however long the post is", async () => {
  const workspaceId = newWorkspace();
  const [first = "", second = "", third = ""] = await draft(workspaceId, [1, 1, 1]);
  await posts.sql`
    update posts
    set content = repeat('x', ${3 * MEBIBYTE}::int)
    where workspace_id = ${workspaceId}
    and id <> ${third}`;

  expect(await pagesOf(workspaceId, 100)).toEqual([[third], [second], [first]]);
});

test("a full page of posts that ends with the last post of the list has no cursor", async () => {
  const workspaceId = newWorkspace();
  const ids = await draft(workspaceId, [10, 10, 10, 10]);

  expect(await pagesOf(workspaceId, 4)).toEqual([ids.toReversed()]);
  expect((await pagesOf(workspaceId, 3)).map((page) => page.length)).toEqual([3, 1]);
});

test("BatchGetPosts leaves the posts that would exceed the maximum size to another call", async () => {
  const workspaceId = newWorkspace();
  const ids = await draft(workspaceId, [200_000, 200_000, 200_000, 10]);
  const unknown = { workspaceId, id: "not an id" };
  const refs = [unknown, ...ids.map((id) => ({ workspaceId, id }))];
  const read = async (from: number, maxBytes: number) => {
    const answer = await posts.posts.batchGetPosts({ refs: refs.slice(from), maxBytes });
    return [
      answer.posts.map(({ id }) => ids.indexOf(id)).toSorted((a, b) => a - b),
      answer.deferredFrom,
    ];
  };

  expect(await read(0, 500_000)).toEqual([[0, 1], 3]);
  expect(await read(3, 500_000)).toEqual([[2, 3], undefined]);
  expect(await read(0, 1)).toEqual([[0], 2]);
  expect(await read(0, 0)).toEqual([[0, 1, 2, 3], undefined]);
});

test("BatchGetPosts looks at no post after the first one that does not fit, however many are asked for", async () => {
  const workspaceId = newWorkspace();
  const ids = await draft(workspaceId, Array<number>(40).fill(1_000));
  const refs = ids.map((postId) => ({ workspaceId, postId }));
  const read = async (count: number) =>
    await posts.sql.begin(async (tx) => {
      const looks = async () => {
        const [row] = await tx<{ posts: number }[]>`
          select (seq_tup_read + idx_tup_fetch)::int as posts
          from pg_stat_xact_user_tables
          where schemaname = 'posts'
          and relname = 'posts'`;
        return row?.posts ?? 0;
      };
      const before = await looks();
      const { deferredFrom } = await listPostsUpTo(tx, refs.slice(0, count), 5_000);
      return { deferredFrom, looks: (await looks()) - before };
    });

  const few = await read(10);
  expect(few.deferredFrom).toBeLessThan(8);
  expect(await read(40)).toEqual(few);
});

test.each(["from", "to"])(
  "ListPosts accepts 0001-01-01 and 9999-12-31 as the date filter %s",
  async (name) => {
    const workspaceId = newWorkspace();
    const [id] = await draft(workspaceId, [1]);
    const list = async (date: string) => {
      const page = await posts.posts.listPosts({ workspaceId, limit: 1, [name]: date });
      return page.posts.map((post) => post.id);
    };

    expect(await list("0001-01-01")).toEqual(name === "from" ? [id] : []);
    expect(await list("9999-12-31")).toEqual(name === "to" ? [id] : []);
  },
);

test.each(["0000-01-01", "+010000-01-01", "-000001-01-01", "10000-01-01"])(
  "ListPosts refuses the date filter %s, which is not between 0001-01-01 and 9999-12-31",
  async (date) => {
    for (const filter of [{ from: date }, { to: date }])
      await expect(
        posts.posts.listPosts({ workspaceId: newWorkspace(), limit: 1, ...filter }),
      ).rejects.toMatchObject({ reason: "invalid_request" });
  },
);

test("paging through a list of posts while posts are added returns every earlier post once", async () => {
  const workspaceId = newWorkspace();
  const publish = publisher(workspaceId);
  const earlier: string[] = [];
  for (let count = 0; count < 12; count += 1) earlier.push((await publish()).id);
  // Posts that were accepted in the same millisecond are ordered by their ids.
  await posts.sql`
    update posts
    set created_at = date_trunc('second', created_at)
    where workspace_id = ${workspaceId}`;

  const met = await listAll({ workspaceId }, async () => {
    await publish();
  });

  expect(met).toHaveLength(12);
  expect(met.toSorted()).toEqual(earlier.toSorted());
});

test.each([0, 1_001, -1])("ListPosts rejects a limit of %i", async (limit) => {
  await expect(posts.posts.listPosts({ workspaceId: newWorkspace(), limit })).rejects.toMatchObject(
    {
      reason: "invalid_request",
    },
  );
});

test.each(["", "x", "AAAA"])("ListPosts rejects the cursor %j", async (cursor) => {
  await expect(
    posts.posts.listPosts({ workspaceId: newWorkspace(), limit: 1, cursor }),
  ).rejects.toMatchObject({ kind: "invalid", reason: "invalid_cursor" });
});

test("ListPosts returns posts that match all filters, and the platform filter matches posts with at least one target on the platform", async () => {
  const workspaceId = newWorkspace();
  const [x = "", bluesky = ""] = ["x", "bluesky"].map((platform) =>
    posts.peers.connectAccount(workspaceId, platform),
  );
  const make = async (content: string, accountIds: string[], change = {}) =>
    await posts.createPost({ workspaceId, accountIds, content, ...change });
  const both = await make("both", [bluesky, x]);
  const single = await make("single", [x], { createdVia: "mcp" });
  const draft = await make("draft", [x], { isDraft: true });
  await posts.report([deliveryOf(single)(0, "published")]);
  const list = async (filter: object) => {
    const page = await posts.posts.listPosts({ workspaceId, limit: 10, ...filter });
    return page.posts.map(({ id }) => id);
  };

  expect(await list({ platform: "bluesky" })).toEqual([both.id]);
  expect(await list({ platform: "x" })).toEqual([draft.id, single.id, both.id]);
  expect(await list({ platform: "youtube" })).toEqual([]);
  expect(await list({ status: "draft" })).toEqual([draft.id]);
  expect(await list({ status: "published" })).toEqual([single.id]);
  expect(await list({ createdVia: "mcp" })).toEqual([single.id]);
  expect(await list({ platform: "x", createdVia: "rest", status: "publishing" })).toEqual([
    both.id,
  ]);
  expect(await list({ platform: "bluesky", createdVia: "mcp" })).toEqual([]);
});

test("the date filters of ListPosts are whole UTC days and apply to the effective date", async () => {
  const workspaceId = newWorkspace();
  const publish = publisher(workspaceId);
  const today = await publish();
  const accountIds = [posts.peers.connectAccount(workspaceId, "x")];
  const day = new Date(Date.now() + 10 * 86_400_000).toISOString().slice(0, 10);
  const planned = [`${day}T00:00:00.000Z`, `${day}T23:59:59.999Z`].map((at) =>
    timestampFromDate(new Date(at)),
  );
  const ids: string[] = [];
  for (const [index, scheduledAt] of planned.entries()) {
    const content = `planned ${index}`;
    ids.push((await posts.createPost({ workspaceId, accountIds, content, scheduledAt })).id);
  }
  const list = async (filter: object) => {
    const page = await posts.posts.listPosts({ workspaceId, limit: 10, ...filter });
    return page.posts.map(({ id }) => id);
  };
  const [first, last] = ids;

  expect(await list({})).toEqual([last, first, today.id]);
  expect(await list({ from: day, to: day })).toEqual([last, first]);
  expect(await list({ from: day })).toEqual([last, first]);
  const before = new Date(Date.parse(day) - 1).toISOString().slice(0, 10);
  expect(await list({ to: before })).toEqual([today.id]);
});

test.each([
  ["/from", { from: "2026-02-30" }],
  ["/to", { to: "tomorrow" }],
  ["/status", { status: "lost" }],
  ["/platform", { platform: "' or true --" }],
  ["/createdVia", { createdVia: "post" }],
])("ListPosts reports the path %s for the invalid filter %j", async (path, filter) => {
  await expect(
    posts.posts.listPosts({ workspaceId: newWorkspace(), limit: 1, ...filter }),
  ).rejects.toMatchObject({ reason: "invalid_request", violations: [{ code: "invalid", path }] });
});

test("ListPosts reports that the range of dates ends before it begins", async () => {
  await expect(
    posts.posts.listPosts({
      workspaceId: newWorkspace(),
      limit: 1,
      from: "2026-11-22",
      to: "2026-11-21",
    }),
  ).rejects.toMatchObject({
    reason: "invalid_request",
    violations: [{ code: "range_reversed", path: "/from" }],
  });
});

test("a list cursor is valid with any limit, but only for the filters of the list that returned it", async () => {
  const workspaceId = newWorkspace();
  const publish = publisher(workspaceId);
  for (let made = 0; made < 5; made += 1) await publish();
  const filter = { workspaceId, status: "publishing" };
  const { nextCursor } = await posts.posts.listPosts({ ...filter, limit: 2 });
  const cursor = nextCursor ?? "";

  expect((await posts.posts.listPosts({ ...filter, limit: 3, cursor })).posts).toHaveLength(3);
  for (const other of [
    { workspaceId },
    { ...filter, platform: "x" },
    { workspaceId, platform: "publishing" },
  ])
    await expect(posts.posts.listPosts({ ...other, limit: 2, cursor })).rejects.toMatchObject({
      kind: "invalid",
    });
});

test("paging through a filtered list of posts while posts are added and published returns each post once", async () => {
  const workspaceId = newWorkspace();
  const publish = publisher(workspaceId);
  const earlier: string[] = [];
  for (let count = 0; count < 12; count += 1) earlier.push((await publish()).id);
  const met = await listAll({ workspaceId, platform: "x" }, async () => {
    await posts.report([deliveryOf(await publish())(0, "published")]);
  });

  expect(met).toEqual(earlier.toReversed());
});

test("a page with several filters looks at 5,000 posts of one of them at most, and the pages together have every post that passes once", async () => {
  const workspaceId = newWorkspace();
  const [first = "", second = ""] = await draft(workspaceId, [1, 1]);
  await posts.sql`
    insert into posts (id, workspace_id, status, content, options, media_ids, media, created_via, created_at, updated_at)
    select gen_random_uuid(), workspace_id, 'failed', content, options, media_ids, media, 'mcp',
      created_at - n * interval '1 second', updated_at
    from posts
    cross join generate_series(1, 10000) as n
    where id = ${first}`;
  await posts.sql`
    update posts
    set status = 'failed',
      created_at = created_at - case when id = ${second} then 1 else 0 end * interval '1 day'
    where workspace_id = ${workspaceId}`;

  const pages: string[][] = [];
  let cursor: string | null = null;
  do {
    const after = cursor === null ? {} : { cursor };
    const filter = { status: "failed", createdVia: "rest", limit: 1 };
    const page = await posts.posts.listPosts({ workspaceId, ...filter, ...after });
    pages.push(page.posts.map(({ id }) => id));
    cursor = page.nextCursor;
  } while (cursor !== null);

  expect(pages).toEqual([[first], [], [second]]);
});

test("lists of one workspace are read one after the other, so that the list of another workspace does not wait for them", async () => {
  const [busy, other] = [newWorkspace(), newWorkspace()];
  const list = async (workspaceId: string) =>
    await posts.posts.listPosts({ workspaceId, limit: 5 });
  const lists = await posts.migrationSql.begin(async (tx) => {
    await tx`lock table posts in access exclusive mode`;
    const all = Promise.all([...Array.from({ length: 12 }, () => busy), other].map(list));
    const countReading = async () => {
      const rows = await tx`
        select
        from pg_stat_activity
        where pg_backend_pid() = any(pg_blocking_pids(pid))`;
      return rows.length;
    };
    await expect.poll(countReading).toBe(2);
    await posts.sql`select 1`;
    expect(await countReading()).toBe(2);
    return { all };
  });
  expect(await lists.all).toHaveLength(13);
});
