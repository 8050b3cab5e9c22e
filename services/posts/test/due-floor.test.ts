import { nextOf } from "@postrider/shared/outbox/pass";
import { countPages } from "@postrider/shared/testing/explain";
import { expect, test } from "vitest";
import { isPostDue, nextDue } from "#src/db/due-posts.ts";
import { newWorkspace, startPostsForFile } from "./fixture.ts";

const posts = await startPostsForFile();

/**
 * Inserts `count` posts that became due two hours ago, each 10 ms after the one before, and marks
 * them as started.
 */
async function startPostsOfThePast(count: number): Promise<void> {
  await posts.sql`
    insert into posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
      created_at, updated_at)
    select gen_random_uuid(), ${newWorkspace()}, 'scheduled', 'hello', '{}', '{}', '[]',
      now() - interval '2 hours' + n * interval '10 milliseconds', 'rest', now(), now()
    from generate_series(1, ${count}::int) as n`;
  await posts.sql`update posts set status = 'publishing' where status = 'scheduled'`;
}

test("the scheduler's search for due posts skips posts that were already started, even while a database backup keeps their index entries", async () => {
  await posts.database.ownerSql.begin("isolation level repeatable read", async (backup) => {
    await backup`select 1`;
    await startPostsOfThePast(10_000);
    const [{ floor }] = await nextDue(posts.sql, null);

    const pagesFrom = (since: Date | null) =>
      countPages(posts.sql, posts.sql`${nextDue(posts.sql, since)}`);
    expect(await pagesFrom(null)).toBeGreaterThan(100);
    expect(await pagesFrom(floor)).toBeLessThan(10);
  });
});

test("the question whether a post is due reads no posts that are scheduled for later", async () => {
  const { sql } = posts;
  await sql`
    insert into posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
      created_at, updated_at)
    select gen_random_uuid(), ${newWorkspace()}, 'scheduled', 'hello', '{}', '{}', '[]',
      now() + interval '1 day' + n * interval '1 second', 'rest', now(), now()
    from generate_series(1, 10_000) as n`;
  await posts.migrationSql`analyze posts`;
  const [{ floor }] = await nextDue(sql, null);

  expect(await countPages(sql, sql`select ${isPostDue(sql, floor)}`)).toBeLessThan(10);
});

test.each(["posts", "backlog"])(
  "the relay reads few of 20,000 events of the topic %s that wait, and none to find those of the other topic",
  async (domain) => {
    const { sql, migrationSql } = posts;
    await migrationSql`truncate outbox`;
    await sql`
      insert into outbox (event_id, type, key, payload, headers)
      select gen_random_uuid(), ${`postrider.${domain}.v1.PostPublishRequested`}, 'key', repeat('x', 400), '{}'
      from generate_series(1, 20_000)`;
    await migrationSql`analyze outbox`;

    expect(await countPages(sql, sql`${nextOf(sql, "posts", 0)}`)).toBeLessThan(100);
  },
);

test("the scheduler's search for due posts starts at a time that is before the next due post and at least a minute before the database's time", async () => {
  const { sql } = posts;
  const scheduleAt = async (offset: string): Promise<number> => {
    await posts.migrationSql`truncate posts cascade`;
    await sql`
      insert into posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
        created_at, updated_at)
      values (gen_random_uuid(), ${newWorkspace()}, 'scheduled', 'hello', '{}', '{}', '[]',
        now() + ${offset}::interval, 'rest', now(), now())`;
    const [{ floor }] = await nextDue(sql, null);
    const [row] = await sql<{ seconds: number }[]>`
      select extract(epoch from ${floor}::timestamptz - now())::float8 as seconds`;
    return Math.round((row?.seconds ?? 0) / 10) * 10;
  };

  expect(await scheduleAt("1 day")).toBe(-60);
  expect(await scheduleAt("-1 hour")).toBe(-3_660);
});

test("the scheduler's search for due posts starts before a post that it leaves out, so that the next search without that exception finds it", async () => {
  const { sql } = posts;
  await posts.migrationSql`truncate posts cascade`;
  const [stuck] = await sql<[{ id: string }]>`
    insert into posts (id, workspace_id, status, content, options, media_ids, media, scheduled_at, created_via,
      created_at, updated_at)
    values (gen_random_uuid(), ${newWorkspace()}, 'scheduled', 'hello', '{}', '{}', '[]',
      now() - interval '1 hour', 'rest', now(), now())
    returning id`;

  const [{ dueMs, floor }] = await nextDue(sql, null, [stuck.id]);
  const [next] = await nextDue(sql, floor);

  expect(dueMs).toBeNull();
  expect(next.dueMs).toBeLessThan(-3_590_000);
});
