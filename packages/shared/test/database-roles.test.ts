import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { connect, createServer, type AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { openSql, type Sql } from "#src/postgres.ts";
import { migrate } from "#src/postgres/migrations.ts";
import { provisionDatabase } from "#src/postgres/provision.ts";
import { restrictRuntime } from "#src/postgres/runtime-rights.ts";
import {
  migrationDatabaseUrl,
  serviceDatabaseUrl,
  webhooksDatabaseUrl,
} from "#src/postgres/service-role.ts";

const MIGRATIONS = new URL("./migrations", import.meta.url).pathname;
const PARTITION_FUNCTIONS = readFileSync(
  new URL("./partition-functions.sql", import.meta.url),
  "utf8",
);

/** A database of one service, whose owner is not a superuser, as on managed databases. */
interface Installation {
  readonly name: string;
  readonly ownerUrl: string;
  readonly owner: Sql;
  readonly runtime: Sql;
  readonly migration: Sql;
}

let cluster: Sql;
let installation: Installation;

function open(url: string): Sql {
  return openSql({ url, poolSize: 4, applicationName: "test" });
}

const roleOf = (name: string) => ({ service: name, password: "p'1", migrationPassword: 'm"2' });

beforeEach(async () => {
  // Postgres roles belong to the database cluster, which all tests share, so each test has roles of
  // its own.
  const name = `roles_${randomBytes(4).toString("hex")}`;
  const clusterUrl = inject("postgresUrl");
  cluster = open(clusterUrl);
  await cluster.unsafe(`create role ${name} login createrole password 'secret'`);
  await cluster.unsafe(`create database ${name} owner ${name}`);
  const url = new URL(clusterUrl);
  url.username = name;
  url.password = "secret";
  url.pathname = `/${name}`;
  const ownerUrl = url.toString();
  installation = {
    name,
    ownerUrl,
    owner: open(ownerUrl),
    runtime: open(serviceDatabaseUrl(ownerUrl, roleOf(name))),
    migration: open(migrationDatabaseUrl(ownerUrl, roleOf(name))),
  };
});

afterEach(async () => {
  const { name, owner, runtime, migration } = installation;
  await Promise.all([owner, runtime, migration].map((sql) => sql.end({ timeout: 1 })));
  await cluster.unsafe(`drop database ${name} with (force)`);
  const suffixes = ["", "_webhooks", "_migration"];
  for (const role of [...suffixes.map((suffix) => `postrider_${name}${suffix}`), name])
    await cluster.unsafe(`drop role if exists ${role}`);
  await cluster.end({ timeout: 1 });
});

const provision = () => provisionDatabase(installation.ownerUrl, [roleOf(installation.name)]);

async function countOwned(role: string): Promise<number> {
  const [row] = await installation.owner<{ count: number }[]>`
    select count(*)::int as count
    from pg_shdepend
    where refclassid = 'pg_authid'::regclass
    and refobjid = ${role}::regrole
    and deptype = 'o'`;
  return row?.count ?? -1;
}

/** Checks that a runtime role can use the rows of the sample service, and nothing else. */
async function expectRuntimeRights({ runtime, name }: Installation): Promise<void> {
  await runtime`insert into effects (group_name, key, value) values ('g', 'k', 'a')`;
  await runtime`update effects set value = 'b'`;
  expect(await runtime`select key, value from effects`).toEqual([{ key: "k", value: "b" }]);
  await runtime`delete from effects`;
  for (const statement of [
    "truncate effects",
    "alter table effects add column more text",
    "drop table effects",
    "create index on effects (value)",
    `create table ${name}.more (id int)`,
    `alter table effects owner to postrider_${name}`,
    `set role postrider_${name}_migration`,
    "insert into schema_migrations (version, name) values (99, 'invented')",
    "update schema_migrations set version = 99",
    `drop schema ${name} cascade`,
  ])
    await expect(runtime.unsafe(statement), statement).rejects.toThrow(
      /permission denied|must be owner/,
    );
  expect(await countOwned(`postrider_${name}`)).toBe(0);
}

test("the runtime role of a service reads and writes the rows of its tables, and can neither truncate, change, create nor drop a table", async () => {
  await provision();
  expect(await migrate(installation.migration, MIGRATIONS)).not.toEqual([]);
  await expectRuntimeRights(installation);
  // The outbox relay reads the last value of the sequence of the outbox's ids, so the runtime role
  // must have the right to read it.
  const { runtime } = installation;
  await runtime`
    insert into outbox (event_id, type, key, payload, headers)
    values (${crypto.randomUUID()}, 'type', 'key', '{}', '{}')`;
  expect(
    await runtime`select pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')) as last`,
  ).toEqual([{ last: 1 }]);
  // A role that is not the service's own cannot use the service's schema at all.
  await expect(
    installation.owner.unsafe(`select 1 from ${installation.name}.effects`),
  ).rejects.toThrow("permission denied for schema");
});

test("a service's runtime role can add and read audit log rows, but cannot choose their time or change, delete or truncate them", async () => {
  await provision();
  const { migration, runtime } = installation;
  await migrate(migration, MIGRATIONS);
  await migration.begin(async (tx) => {
    await tx`create table audit_log (id bigint generated always as identity, at date not null default '2026-11-23', what text) partition by range (at)`;
    await tx`create table audit_log_2026 partition of audit_log for values from ('2026-01-01') to ('2027-01-01')`;
    await restrictRuntime(tx);
  });
  // A second run of provisioning must not grant further rights.
  await provision();
  await runtime`insert into audit_log (what) values ('a key was created')`;
  expect(await runtime`select what from audit_log`).toEqual([{ what: "a key was created" }]);
  for (const table of ["audit_log", "audit_log_2026"])
    for (const statement of [
      `insert into ${table} (at, what) values ('2026-12-31', 'an entry of another time')`,
      `update ${table} set what = 'nothing'`,
      `delete from ${table}`,
      `truncate ${table}`,
      `select 1 from ${table} for update`,
    ])
      await expect(runtime.unsafe(statement), statement).rejects.toThrow("permission denied");
});

test("the role for webhooks gets the rights on its tables from a later run of provisioning and from each migration, and none on other tables", async () => {
  await provision();
  const { name, ownerUrl, migration } = installation;
  await migrate(migration, MIGRATIONS);
  await migration`create table webhook_older (id int)`;
  for (let run = 0; run < 2; run += 1)
    await provisionDatabase(ownerUrl, [{ ...roleOf(name), webhooksPassword: "w'3" }]);
  await migration.begin(async (tx) => {
    await tx`create table webhook_newer (id int)`;
    await tx`create table newer (id int)`;
    await restrictRuntime(tx);
  });
  const webhooks = open(webhooksDatabaseUrl(ownerUrl, name, "w'3"));
  for (const table of ["webhook_older", "webhook_newer"])
    await webhooks.unsafe(`insert into ${table} (id) values (1)`);
  for (const table of ["effects", "newer", "outbox"])
    await expect(webhooks.unsafe(`select 1 from ${table}`)).rejects.toThrow("permission denied");
  await webhooks.end({ timeout: 1 });
});

test("the runtime role can create partitions for the days around today and drop those at least a week old, but no other partitions", async () => {
  await provision();
  const { migration, runtime } = installation;
  await migration.unsafe(PARTITION_FUNCTIONS.replaceAll("sample", installation.name));
  await runtime`select create_readings_partition(current_date)`;
  await runtime`select create_readings_partition(current_date)`;
  await runtime`insert into readings (at, value) values (now(), 'warm')`;
  await runtime`update readings set value = 'cold'`;
  expect(await runtime`select value from readings`).toEqual([{ value: "cold" }]);
  await expect(runtime`select create_readings_partition(current_date + 400)`).rejects.toThrow(
    "partitions are created for the days from yesterday",
  );
  await expect(runtime`select create_readings_partition(null)`).rejects.toThrow("not for");
  await expect(runtime`select drop_readings_partition(current_date)`).rejects.toThrow(
    "at least a week old",
  );
  await migration`create table readings_20200101 partition of readings for values from ('2020-01-01') to ('2020-01-02')`;
  await runtime`select drop_readings_partition('2020-01-01')`;
  expect(await runtime`select to_regclass('readings_20200101') as found`).toEqual([
    { found: null },
  ]);
  // The function `create_readings_partition` uses the real table even if a temporary table has the
  // same name.
  await runtime.begin(async (tx) => {
    await tx`create temporary table readings (id int) on commit drop`;
    await tx`select create_readings_partition(current_date + 1)`;
  });
  expect(await countOwned(`postrider_${installation.name}`)).toBe(0);
});

/** Starts a server that forwards connections to Postgres and records what clients send. */
async function recordConnections(
  target: URL,
): Promise<{ url: string; sent: () => string } & Disposable> {
  const chunks: Buffer[] = [];
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    client.on("data", (chunk) => chunks.push(Buffer.from(chunk)));
    client.on("error", () => upstream.destroy());
    upstream.on("error", () => client.destroy());
    client.pipe(upstream).pipe(client);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const url = new URL(target);
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.toString(),
    sent: () => Buffer.concat(chunks).toString("latin1"),
    [Symbol.dispose]: () => void server.close(),
  };
}

test("provisioning sends no password to the database, and the database accepts the passwords for both roles afterwards", async () => {
  using recorded = await recordConnections(new URL(installation.ownerUrl));
  const role = {
    service: installation.name,
    password: "pass wörd '1",
    migrationPassword: 'päss"2',
  };
  await provisionDatabase(recorded.url, [role]);
  const sent = recorded.sent();
  expect(sent).toContain("SCRAM-SHA-256$4096:");
  for (const part of ["pass w", 'ss"2']) expect(sent).not.toContain(part);
  for (const url of [
    serviceDatabaseUrl(installation.ownerUrl, role),
    migrationDatabaseUrl(installation.ownerUrl, role),
  ]) {
    const sql = open(url);
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
    await sql.end({ timeout: 1 });
    const other = new URL(url);
    other.password = "guessed";
    const refused = open(other.toString());
    await expect(refused`select 1`).rejects.toThrow("password authentication failed");
    await refused.end({ timeout: 1 });
  }
});
