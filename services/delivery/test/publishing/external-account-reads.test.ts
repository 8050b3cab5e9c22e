import { newId } from "@postrider/shared/ids";
import type { ISql } from "@postrider/shared/postgres";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findOwnedReplies } from "#src/engagement/db/action-states.ts";
import { findOwnedIds } from "#src/publishing/db/attempts.ts";
import { listUncertainTasks } from "#src/publishing/db/doubts.ts";
import { openDatabase } from "./fixture.ts";

const EXTERNAL = "one-account-of-the-platform";
const accountId = newId();
const account = { platform: "x", accountId, externalAccountId: EXTERNAL };

let database: TestDatabase;
beforeAll(async () => {
  database = await openDatabase();
  const { sql, ownerSql } = database;
  await sql`
    insert into publish_tasks (
      target_id, generation, workspace_id, post_id, account_id, platform, status, wake_at, due_at, publish_before,
      external_account_id, external_id
    )
    select gen_random_uuid(), 1, gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'x',
      case when number % 2 = 0 then 'published' else 'queued' end, now() + interval '1 day', now() + interval '1 day',
      now() + interval '2 days', 'account ' || number, case when number % 2 = 0 then 'id-' || number end
    from generate_series(1, 20000) as number`;
  await sql`
    insert into comment_actions (
      id, workspace_id, account_id, platform, media_id, comment_id, type, text, call_key, status, wake_at, send_before,
      finished_at, external_account_id, external_id
    )
    select gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'instagram', 'media', 'comment ' || number, 'reply', 'text', 'key',
      'succeeded', now(), now(), now(), 'account ' || number, 'id-' || number
    from generate_series(1, 20000) as number`;
  await ownerSql`analyze delivery.publish_tasks, delivery.comment_actions`;
});
afterAll(() => database[Symbol.asyncDispose]());

/** Returns the number of database pages of the table and its indexes that `read` reads. */
async function countPages(table: string, read: (sql: ISql) => Promise<unknown>): Promise<number> {
  return await database.sql.begin(async (tx) => {
    const pages = async () => {
      const [row] = await tx<[{ pages: number }]>`
        select sum(pg_stat_get_xact_blocks_fetched(relation))::int as pages
        from (
          select ${table}::regclass::oid
          union all
          select indexrelid from pg_index where indrelid = ${table}::regclass
        ) as r (relation)`;
      return row.pages;
    };
    await read(tx);
    const before = await pages();
    await read(tx);
    return (await pages()) - before;
  });
}

test("a search for the post of a lost call reads few database pages, however many targets the other accounts of the platform have", async () => {
  const uncertain = await countPages("publish_tasks", (sql) =>
    listUncertainTasks(sql, newId(), account, 500),
  );
  const owned = await countPages("publish_tasks", (sql) => findOwnedIds(sql, account, ["id-2"]));
  expect(uncertain + owned).toBeLessThan(40);
});

test("a search for a lost reply reads few database pages, however many actions there are on other comments", async () => {
  const action = { id: newId(), platform: "instagram", accountId, commentId: "comment" };
  const pages = await countPages("comment_actions", (sql) =>
    findOwnedReplies(sql, action, EXTERNAL, ["id-1"]),
  );
  expect(pages).toBeLessThan(40);
});
