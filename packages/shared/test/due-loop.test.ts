import { fileURLToPath } from "node:url";
import { afterAll, beforeEach, expect, test } from "vitest";
import { type DueLoop, recentSkewMs, startDueLoop } from "#src/postgres/due-loop.ts";
import { createDatabaseCheck } from "#src/process/health.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase } from "./test-service.ts";

const MIGRATIONS = fileURLToPath(new URL("./migrations", import.meta.url));
const HOUR_MS = 3_600_000;

const database = await createDatabase();
afterAll(() => database[Symbol.asyncDispose]());

const statements: string[] = [];
beforeEach(async () => {
  await database.ownerSql`truncate sample.effects`;
  Object.assign(database.sql.options, {
    debug: (_connection: number, text: string) => void statements.push(text),
  });
});

/** A loop whose work is to delete the rows with its name. */
function startDeleting(name: string, runs: string[], isDue?: string): DueLoop {
  const { sql } = database;
  return startDueLoop({
    sql,
    isDue: (of) => of`exists (select from ${of(isDue ?? "effects")} where key = ${name})`,
    idleMs: HOUR_MS,
    work: async () => {
      await sql`delete from effects where key = ${name}`;
      runs.push(name);
      return false;
    },
    onError: () => undefined,
  });
}

const insert = (key: string) =>
  database.ownerSql`insert into sample.effects (group_name, key, value) values ('due', ${key}, 'v')`;

test("one statement asks for the work of all loops, and wakes only those that have some", async () => {
  const runs: string[] = [];
  await using first = startDeleting("first", runs);
  await using second = startDeleting("second", runs);
  await eventually(() => runs.length === 2);
  statements.length = 0;
  await insert("second");

  await eventually(() => expect(runs.slice(2)).toEqual(["second"]));

  const questions = statements.filter((text) => text.includes("exists"));
  expect(questions.every((text) => text.match(/exists/g)?.length === 2)).toBe(true);
  await eventually(() => first.lookAgeMs() < 500 && second.lookAgeMs() < 500);
});

test("while the question of one loop fails, every loop looks by itself", async () => {
  const runs: string[] = [];
  await using _damaged = startDeleting("damaged", runs, "missing_table");
  await using _sound = startDeleting("sound", runs);
  await eventually(() => runs.length === 2);
  await insert("sound");

  await eventually(async () => {
    expect(await database.sql`select from effects`).toHaveLength(0);
  });
});

test("a health probe sends no statement while the loops of the pool ask for due work, and notices that the database is gone", async () => {
  const check = createDatabaseCheck(database.sql, MIGRATIONS);
  await check();
  await using _loop = startDeleting("probed", []);
  await eventually(() => recentSkewMs(database.sql) !== undefined);
  const before = statements.length;
  await check();
  expect(statements).toHaveLength(before);

  await database.sql.end();
  await eventually(() => recentSkewMs(database.sql) === undefined);
  await expect(check()).rejects.toThrow("CONNECTION_ENDED");
});
