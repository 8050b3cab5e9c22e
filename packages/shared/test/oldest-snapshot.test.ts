import { afterAll, expect, test } from "vitest";
import { SnapshotWatch } from "#src/postgres/watch.ts";
import { createDatabase } from "./test-service.ts";

const database = await createDatabase();

afterAll(() => database[Symbol.asyncDispose]());

/**
 * Uses 1,100 transaction ids, because the metric shows a snapshot only after 1,000 further
 * transactions have begun.
 */
async function useTransactions(): Promise<void> {
  await database.sql`
    do $$
    begin
      for n in 1..1100 loop
        begin
          insert into effects (group_name, key, value) values ('', '', '');
        exception when others then null;
        end;
      end loop;
    end
    $$`;
}

/**
 * Returns the age in seconds of the oldest database snapshot; undefined if the `SnapshotWatch` sees
 * none.
 */
async function readAge(watch: SnapshotWatch, now: Date): Promise<number | undefined> {
  const since = await watch.look(database.sql, now);
  return since === undefined ? undefined : (now.getTime() - since.getTime()) / 1000;
}

test("the metric of the oldest database snapshot shows for how long a backup under another role has kept Postgres from removing deleted rows", async () => {
  const watch = new SnapshotWatch();
  const at = (seconds: number): Date => new Date(1_700_000_000_000 + seconds * 1000);
  await database.ownerSql.begin("isolation level repeatable read", async (backup) => {
    await backup`select 1`;
    const [own] = await backup<{ xmin: string }[]>`
      select backend_xmin::text as xmin from pg_stat_activity where pid = pg_backend_pid()`;
    await useTransactions();
    const first = await watch.look(database.sql, at(0));
    expect(first).toEqual(at(0));
    expect(own?.xmin).toMatch(/^\d+$/);
    expect(await readAge(watch, at(1_800))).toBe(1_800);
  });
});
