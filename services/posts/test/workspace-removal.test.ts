import type { Sql } from "@postrider/shared/postgres";
import { createLogger } from "@postrider/shared/telemetry/logger";
import { createTestDatabase } from "@postrider/shared/testing/database";
import {
  countRowsWith,
  expectRemoved,
  fillTwoWorkspaces,
  removeWorkspace,
  stopped,
} from "@postrider/shared/testing/workspace-removal";
import { WorkspaceRemoval } from "@postrider/shared/workspaces/removal-loop";
import { expect, test } from "vitest";
import { MIGRATIONS } from "#src/config.ts";

async function createDatabase() {
  return await createTestDatabase({ service: "posts", migrationsFolder: MIGRATIONS });
}

test("the removal of a workspace leaves no row of it in any table of posts, and every row of another workspace", async () => {
  await using database = await createDatabase();
  const ids = await fillTwoWorkspaces(database);
  const before = await countRowsWith(database.migrationSql, ids.kept);
  expect(Object.keys(before).length).toBeGreaterThan(8);

  const reports = await removeWorkspace(database.sql, ids.removed);

  await expectRemoved(database.migrationSql, ids, before);
  expect(reports.at(-1)).toMatchObject({ isDone: true });
});

test("a removal of a workspace that was stopped in the middle is continued by another process", async () => {
  await using database = await createDatabase();
  const ids = await fillTwoWorkspaces(database);
  const before = await countRowsWith(database.migrationSql, ids.kept);

  await removeWorkspace(database.sql, ids.removed, {}, { steps: 3 });
  expect(await countRowsWith(database.migrationSql, ids.removed)).not.toEqual({});
  await removeWorkspace(database.sql, ids.removed);

  await expectRemoved(database.migrationSql, ids, before);
});

test("a removal of a workspace is not finished while an event of it waits in the outbox", async () => {
  await using database = await createDatabase();
  const { removed } = await fillTwoWorkspaces(database);
  await database.sql`
    insert into outbox (event_id, type, key, payload, headers)
    values (gen_random_uuid(), 'postrider.posts.v1.PostScheduled', ${removed}, ${JSON.stringify({ workspaceId: removed })}, '{}')`;
  expect(await removeWorkspace(database.sql, removed, {}, { steps: 200 })).toEqual([]);
  await database.sql`delete from outbox`;
  expect((await removeWorkspace(database.sql, removed)).at(-1)?.isDone).toBe(true);
});

/** A pool whose first deletion in this table fails. */
function failOnce(sql: Sql, table: string): Sql {
  let hasFailed = false;
  return new Proxy(sql, {
    apply: (target, self, given: unknown[]) => {
      const [first] = given;
      if (!hasFailed && first === table) {
        hasFailed = true;
        throw new Error("the connection was lost");
      }
      return Reflect.apply(target, self, given);
    },
  });
}

test("an error in the middle of a pass does not count as a pass that found nothing", async () => {
  await using database = await createDatabase();
  const ids = await fillTwoWorkspaces(database);
  const before = await countRowsWith(database.migrationSql, ids.kept);
  const removal = new WorkspaceRemoval(
    {
      sql: failOnce(database.sql, "idempotency_keys"),
      logger: createLogger({ service: "test", level: "silent" }),
      service: "posts",
      list: () => Promise.resolve([]),
      report: () => Promise.resolve(),
    },
    stopped(ids.removed),
  );
  await expect(removal.step()).rejects.toThrow("the connection was lost");
  for (let next: number | undefined = 0; next !== undefined;) next = await removal.step();
  await expectRemoved(database.migrationSql, ids, before);
});
