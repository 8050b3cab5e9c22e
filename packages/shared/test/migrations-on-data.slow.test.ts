import { cp, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findMigrationFaults } from "#src/testing/migrations-on-data.ts";

const SERVICES = new URL("../../../services/", import.meta.url).pathname;

const folders = await readdir(SERVICES, { recursive: false });
const services = (
  await Promise.all(
    folders.map(async (service) => ({
      service,
      folder: join(SERVICES, service, "migrations"),
      files: await readdir(join(SERVICES, service, "migrations")).catch(() => []),
    })),
  )
).filter(({ files }) => files.length > 0);

test.each(services)(
  "every migration of the $service service succeeds on filled tables, and the previous version can still use these tables",
  async ({ service, folder }) => {
    expect(await findMigrationFaults(service, folder)).toEqual([]);
  },
);

/**
 * Copies the migrations of a service, adds another one, and returns what `findMigrationFaults` says
 * about them.
 */
async function findFaultsWith(
  service: string,
  folder: string,
  change: string,
): Promise<readonly string[]> {
  const copy = await mkdtemp(join(tmpdir(), "migrations-test-"));
  try {
    await cp(folder, copy, { recursive: true });
    const number = String((await readdir(copy)).length + 1).padStart(4, "0");
    await writeFile(join(copy, `${number}_change.sql`), change);
    return await findMigrationFaults(service, copy);
  } finally {
    await rm(copy, { recursive: true });
  }
}

/**
 * A table of each service that a made-up next migration changes, and a status that its rows can
 * have.
 */
const changed: Readonly<Record<string, { readonly table: string; readonly status: string }>> = {
  accounts: { table: "accounts", status: "disconnected" },
  posts: { table: "targets", status: "delete_failed" },
  media: { table: "media", status: "rejected" },
  delivery: { table: "publish_tasks", status: "dropped" },
};

function changedBy(service: string) {
  const found = changed[service];
  if (found === undefined) throw new Error(`name a table and a status of ${service} in this test`);
  return found;
}

test.each(services)(
  "a next migration of the $service service that adds a column with a default and a table, and removes a column that it names, has no faults",
  async ({ service, folder }) => {
    const { table } = changedBy(service);
    const change = [
      "-- removes parked_events.error",
      "alter table parked_events drop column error;",
      `alter table ${table} add column note text not null default '';`,
      `create index notes_of_workspaces on ${table} (workspace_id, note);`,
      "create table notes (id uuid primary key, note text not null);",
    ].join("\n");
    expect(await findFaultsWith(service, folder, change)).toEqual([]);
  },
);

test.each(services)(
  "a next migration of the $service service after which the previous version can no longer write one status of its rows is reported",
  async ({ service, folder }) => {
    const { table, status } = changedBy(service);
    const name = `${table}_narrower`;
    const change = `alter table ${table} add constraint ${name} check (status <> '${status}') not valid;`;
    expect(await findFaultsWith(service, folder, change)).toEqual([
      expect.stringMatching(
        `_change.sql: the previous version can no longer insert into ${table}: .*"${name}"`,
      ),
    ]);
  },
);

const CREATE =
  "create table items (id uuid primary key, status text not null check (status in ('a', 'b')));";

test.each([
  [
    "adds a required column without a default",
    "alter table items add column name text not null;",
    [expect.stringContaining("0002_change.sql fails on data")],
  ],
  [
    "renames a column",
    "alter table items rename column status to state;",
    [expect.stringContaining("the previous version can no longer insert into items")],
  ],
  [
    "no longer allows a status",
    "delete from items where status = 'b'; alter table items add check (status = 'a');",
    [expect.stringContaining("the previous version can no longer insert into items")],
  ],
  [
    "deletes the rows of a table",
    "delete from items;",
    [expect.stringContaining("removes the rows of items")],
  ],
  [
    "removes a column and says so in a comment",
    "-- removes items.status\nalter table items drop column status;",
    [],
  ],
  [
    "adds a required column to a table that no version has written yet, and says so in a comment",
    "-- unwritten items\nalter table items add column name text not null;",
    [],
  ],
])(
  "the test of migrations on filled tables reports exactly what is wrong with a migration that %s",
  async (_name, change, faults) => {
    const folder = await mkdtemp(join(tmpdir(), "migrations-test-"));
    await writeFile(join(folder, "0001_create.sql"), CREATE);
    await writeFile(join(folder, "0002_change.sql"), change);
    expect(await findMigrationFaults("posts", folder)).toEqual(faults);
    await rm(folder, { recursive: true });
  },
);
