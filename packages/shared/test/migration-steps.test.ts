import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSql, type Sql } from "#src/postgres.ts";
import { migrate } from "#src/postgres/migrations.ts";
import { holdTransaction, type TestDatabase } from "#src/testing/database.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase } from "./test-service.ts";

const INDEX = `-- outside a transaction
-- The list of effects is filtered by it.
create index concurrently if not exists effects_by_note on effects (note);
`;
const BACKFILL = `-- in batches
update effects
set note = 'filled'
where id in (select id from effects where note is null order by id limit 100)
`;

let database: TestDatabase;
let folder: string;
let lines: string[];

beforeEach(async () => {
  database = await createDatabase();
  folder = mkdtempSync(join(tmpdir(), "postrider-migrations-"));
  cpSync(new URL("./migrations", import.meta.url).pathname, folder, { recursive: true });
  writeFileSync(join(folder, "0002_add_note.sql"), "alter table effects add column note text;\n");
  lines = [];
  await run();
});

afterEach(async () => {
  rmSync(folder, { recursive: true });
  await database[Symbol.asyncDispose]();
});

async function run(sql: Sql = database.migrationSql): Promise<readonly number[]> {
  return await migrate(sql, folder, (line) => lines.push(line));
}

async function addEffects(count: number): Promise<void> {
  await database.sql`
    insert into effects (group_name, key, value)
    select 'group', 'key', 'value' from generate_series(1, ${count})`;
}

async function readIndexes(): Promise<readonly object[]> {
  return await database.ownerSql`
    select indisvalid as "isValid"
    from pg_index
    where indexrelid = to_regclass('sample.effects_by_note')`;
}

test("ten processes that run a migration outside of a transaction at the same time succeed, and one records it", async () => {
  writeFileSync(join(folder, "0003_index_note.sql"), INDEX);
  await addEffects(10);
  const pools = Array.from({ length: 10 }, (_, index) =>
    openSql({ url: database.migrationUrl, poolSize: 1, applicationName: `migrate-${index}` }),
  );
  try {
    expect((await Promise.all(pools.map(run))).flat()).toEqual([3]);
  } finally {
    await Promise.all(pools.map((sql) => sql.end({ timeout: 1 })));
  }
  expect(await readIndexes()).toEqual([{ isValid: true }]);
});

test("while an index is created concurrently and waits for an older transaction, other transactions write to its table", async () => {
  writeFileSync(join(folder, "0003_index_note.sql"), INDEX);
  const release = await holdTransaction(
    database.sql,
    (tx) => tx`insert into effects (group_name, key, value) values ('group', 'key', 'value')`,
  );
  const migrated = run();
  await eventually(async () => {
    const waiting = await database.ownerSql`
      select 1
      from pg_stat_activity
      where query like '%create index concurrently%'
      and wait_event_type = 'Lock'
      and pid <> pg_backend_pid()`;
    expect(waiting).toHaveLength(1);
  });

  await addEffects(1);
  await release();

  expect(await migrated).toEqual([3]);
  expect(await readIndexes()).toEqual([{ isValid: true }]);
});

test("an index that an interrupted migration left invalid is created anew", async () => {
  writeFileSync(join(folder, "0003_index_note.sql"), INDEX);
  await addEffects(2);
  await database.sql`update effects set note = 'same'`;
  const unique = INDEX.replace("create index", "create unique index");
  const broken = unique.slice(unique.indexOf("create"), unique.indexOf(";"));
  await expect(database.migrationSql.unsafe(broken)).rejects.toThrow("could not create unique");
  expect(await readIndexes()).toEqual([{ isValid: false }]);

  expect(await run()).toEqual([3]);
  expect(await readIndexes()).toEqual([{ isValid: true }]);
});

test("a migration in batches says how many rows it has changed, and changes the rest when it is run again after a failure", async () => {
  writeFileSync(join(folder, "0003_fill_note.sql"), BACKFILL);
  await addEffects(250);
  await database.migrationSql.unsafe(`
    create function refuse() returns trigger language plpgsql as $$
    begin
      if (select count(*) from effects where note is not null) >= 100 then raise 'the disk is full'; end if;
      return null;
    end $$;
    create trigger refuse before update on effects execute function refuse()`);
  const countFilled = async (): Promise<object | undefined> =>
    (await database.sql`select count(note)::int as filled from effects`)[0];

  await expect(run()).rejects.toThrow("the disk is full");
  expect(await countFilled()).toEqual({ filled: 100 });

  await database.migrationSql`drop function refuse cascade`;
  expect(await run()).toEqual([3]);
  expect(await countFilled()).toEqual({ filled: 250 });
  expect(lines).toEqual(["0003_fill_note.sql: 150 rows are changed"]);
});
