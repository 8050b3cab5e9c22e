import { PostService } from "@postrider/contracts/posts/v1/post_service_pb";
import { firstIdAt, newId, NIL_ID } from "@postrider/shared/ids";
import type { Sql } from "@postrider/shared/postgres";
import { createTestPeer } from "@postrider/shared/testing/router";
import { expect, onTestFinished, test, vi } from "vitest";
import { removeTargetPage } from "#src/publishing/jobs/remove-old-targets.ts";
import { logger, openDatabase } from "./fixture.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);

interface Given {
  readonly status?: string;
  readonly createdDays?: number;
  readonly changedDays?: number;
}

/** Stores a target with an attempt, a deletion, metrics and their history. */
async function addTarget(
  sql: Sql,
  { status = "published", createdDays = 41, changedDays = createdDays }: Given = {},
) {
  const targetId = `${firstIdAt(daysAgo(createdDays)).slice(0, 14)}${newId().slice(14)}`;
  const [workspaceId, postId, accountId] = [newId(), newId(), newId()];
  await sql`
    insert into publish_tasks (
      target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at, publish_before, updated_at
    )
    values (
      ${targetId}, 1, ${workspaceId}, ${postId}, ${accountId}, 'x', ${status}, now(), now(), now(), ${daysAgo(changedDays)}
    )`;
  await sql`
    insert into publish_attempts (target_id, number, generation, workspace_id, account_id, fence)
    values (${targetId}, 1, 1, ${workspaceId}, ${accountId}, 1)`;
  await sql`
    insert into deletion_tasks (
      target_id, deletion, workspace_id, post_id, account_id, platform, external_id, status, wake_at
    )
    values (${targetId}, 1, ${workspaceId}, ${postId}, ${accountId}, 'x', '1', 'deleted', now())`;
  await sql`
    insert into target_metrics (target_id, workspace_id, post_id, account_id, platform, published_at, due_at)
    values (${targetId}, ${workspaceId}, ${postId}, ${accountId}, 'x', now(), 'infinity')`;
  await sql`
    insert into target_metric_history (target_id, refreshed_at, workspace_id)
    values (${targetId}, now(), ${workspaceId})`;
  return { targetId, workspaceId, postId };
}

/** Returns in how many tables each target is found. */
async function countRows(sql: Sql, ...targets: readonly { readonly targetId: string }[]) {
  const rows = await sql<{ id: string; count: number }[]>`
    select id, count(*)::int as count
    from (
      select target_id as id from publish_tasks
      union all select target_id from publish_attempts
      union all select target_id from deletion_tasks
      union all select target_id from target_metrics
      union all select target_id from target_metric_history
    ) as found
    group by id`;
  return targets.map(({ targetId }) => rows.find(({ id }) => id === targetId)?.count ?? 0);
}

/** A posts service in which only the given posts exist. */
function postsWith(...existing: readonly string[]) {
  const peer = createTestPeer((router) =>
    router.service(PostService, {
      batchGetPostStatuses: ({ refs }) => ({
        statuses: refs
          .filter(({ id }) => existing.includes(id))
          .map((ref) => ({ ref, status: "published" })),
      }),
    }),
  );
  return peer.client(PostService);
}

test("everything that delivery stores about a target is removed 40 days after its end, once the posts service no longer knows its post", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const kept = await addTarget(sql);
  const gone = await addTarget(sql);

  await removeTargetPage({ sql, posts: postsWith(kept.postId), logger }, NIL_ID);

  expect(await countRows(sql, kept, gone)).toEqual([5, 0]);
});

test.each<Given>([
  { status: "unknown" },
  { status: "calling" },
  { status: "queued" },
  { changedDays: 39 },
  { createdDays: 39 },
])("a target of a removed post stays while it is %j", async (given) => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await addTarget(sql, given);

  await removeTargetPage({ sql, posts: postsWith(), logger }, NIL_ID);

  expect(await countRows(sql, target)).toEqual([5]);
});

test("a process whose clock is years ahead removes nothing about a target that the database does not find old", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await addTarget(sql, { createdDays: 39 });
  vi.setSystemTime(daysAgo(-3000));
  onTestFinished(() => void vi.useRealTimers());

  await removeTargetPage({ sql, posts: postsWith(), logger }, NIL_ID);

  expect(await countRows(sql, target)).toEqual([5]);
});

test("a target of a removed post stays while its deletion on the platform has not ended", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const target = await addTarget(sql);
  await sql`update deletion_tasks set status = 'queued'`;

  await removeTargetPage({ sql, posts: postsWith(), logger }, NIL_ID);

  expect(await countRows(sql, target)).toEqual([5]);
});

test("nothing is removed while the posts service knows none of the newest posts, because its data is older", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const old = await addTarget(sql);
  const [first, newest] = [
    await addTarget(sql, { createdDays: 3 }),
    await addTarget(sql, { createdDays: 1 }),
  ];

  await removeTargetPage({ sql, posts: postsWith(), logger }, NIL_ID);
  expect(await countRows(sql, old, first, newest)).toEqual([5, 5, 5]);
  await removeTargetPage({ sql, posts: postsWith(first.postId), logger }, NIL_ID);
  expect(await countRows(sql, old, first, newest)).toEqual([0, 5, 5]);
});

test("a target whose rows are too many for one statement is skipped, and the others of its page are removed", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const targets = [await addTarget(sql), await addTarget(sql), await addTarget(sql)];
  await database.migrationSql.unsafe(`
    create function refuse_heavy() returns trigger language plpgsql as $$
    begin
      if old.target_id = '${targets[1]?.targetId}' then
        raise exception sqlstate '57014';
      end if;
      return old;
    end
    $$;
    create trigger refuse_heavy before delete on publish_tasks
    for each row execute function refuse_heavy()`);

  await removeTargetPage({ sql, posts: postsWith(), logger }, NIL_ID);

  expect(await countRows(sql, ...targets)).toEqual([0, 5, 0]);
});

test("imported targets with ids from the future are not taken for those that were published last", async () => {
  await using database = await openDatabase();
  const { sql } = database;
  const old = await addTarget(sql);
  const newest = await addTarget(sql, { createdDays: 1 });
  for (let count = 0; count < 20; count += 1) await addTarget(sql, { createdDays: -1 });

  await removeTargetPage({ sql, posts: postsWith(newest.postId), logger }, NIL_ID);

  expect(await countRows(sql, old, newest)).toEqual([0, 5]);
});
