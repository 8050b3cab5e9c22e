import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
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
  "every migration of the $service service succeeds on filled tables of the previous version, and the previous version can still use these tables",
  async ({ service, folder }) => {
    expect(await findMigrationFaults(service, folder)).toEqual([]);
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
