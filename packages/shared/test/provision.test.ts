import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openSql, type Sql } from "#src/postgres.ts";
import { provisionDatabase } from "#src/postgres/provision.ts";
import { migrationDatabaseUrl, serviceDatabaseUrl } from "#src/postgres/service-role.ts";
import { createTestDatabase } from "#src/testing/database.ts";

const migrationsFolder = new URL("./migrations", import.meta.url).pathname;

// Postgres roles belong to the database cluster, which all tests share, so this test has roles of
// its own.
const name = `provision_${randomBytes(4).toString("hex")}`;
const services = [`${name}_one`, `${name}_two`];
const roles = services.map((service) => ({
  service,
  password: "secret",
  migrationPassword: "other secret",
}));

let cluster: Sql;
let ownerUrl: string;

/** An owner as on managed databases: not a superuser, but allowed to create roles. */
beforeAll(async () => {
  const clusterUrl = inject("postgresUrl");
  cluster = openSql({ url: clusterUrl, poolSize: 1, applicationName: "test" });
  await cluster.unsafe(`create role ${name} login createrole password 'secret'`);
  await cluster.unsafe(`create database ${name} owner ${name}`);
  const url = new URL(clusterUrl);
  url.username = name;
  url.password = "secret";
  url.pathname = `/${name}`;
  ownerUrl = url.toString();
});

afterAll(async () => {
  await cluster.unsafe(`drop database if exists ${name} with (force)`);
  for (const service of services)
    for (const role of [`postrider_${service}`, `postrider_${service}_migration`])
      await cluster.unsafe(`drop role if exists ${role}`);
  await cluster.unsafe(`drop role if exists ${name}`);
  await cluster.end({ timeout: 1 });
});

async function as<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const sql = openSql({ url, poolSize: 1, applicationName: "test" });
  try {
    return await work(sql);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test("a database owner who is not a superuser can provision the database twice with different passwords, and cannot read a service's tables", async () => {
  await provisionDatabase(ownerUrl, roles);
  const [one] = services;
  const changed = roles.map((role) => ({ ...role, migrationPassword: "changed" }));
  await provisionDatabase(ownerUrl, changed);
  const url = migrationDatabaseUrl(ownerUrl, { service: one ?? "", migrationPassword: "changed" });
  await as(url, async (sql) => {
    await sql.unsafe("create table things (id int)");
    await expect(sql.unsafe(`create table ${services[1]}.things (id int)`)).rejects.toThrow(
      "permission denied for schema",
    );
  });
  await as(ownerUrl, async (sql) => {
    const reading = sql.unsafe(`select id from ${one}.things`);
    await expect(reading).rejects.toThrow("permission denied for schema");
  });
});

test("the role of a service can append to its own topics on the Postgres bus, but cannot change topics or consumer positions of another service", async () => {
  await provisionDatabase(ownerUrl, roles);
  const [one = "", other = ""] = services;
  const append = (sql: Sql, topic: string) =>
    sql`insert into bus.records (topic, key, headers, value) values (${topic}, 'k', '{}', 'v')`;
  await as(serviceDatabaseUrl(ownerUrl, { service: other, password: "secret" }), async (sql) => {
    await append(sql, `${other}.events.v1`);
    await sql`insert into bus.positions (group_name, topic) values (${other}, ${`${one}.events.v1`})`;
  });
  await as(serviceDatabaseUrl(ownerUrl, { service: one, password: "secret" }), async (sql) => {
    await append(sql, `${one}.events.v1`);
    await expect(append(sql, `${other}.events.v1`)).rejects.toThrow("row-level security");
    await expect(
      sql`insert into bus.records (id, topic, key, headers, value) values (9, ${`${one}.events.v1`}, 'k', '{}', 'v')`,
    ).rejects.toThrow("permission denied");
    await expect(
      sql`insert into bus.positions (group_name, topic) values (${other}, 'topic')`,
    ).rejects.toThrow("row-level security");
    const moved = await sql`update bus.positions set position = 9 where group_name = ${other}`;
    const deleted = await sql`delete from bus.records`;
    expect([moved.count, deleted.count]).toEqual([0, 0]);
    expect(await sql`select topic from bus.records order by id`).toEqual([
      { topic: `${other}.events.v1` },
      { topic: `${one}.events.v1` },
    ]);
  });
});

test("the role of the delivery service can append to the topic of its domain engagement on the Postgres bus, but other services cannot", async () => {
  const database = (service: string) => createTestDatabase({ service, migrationsFolder });
  await using delivery = await database("delivery");
  await using posts = await database("posts");
  const append = (sql: Sql) =>
    sql`insert into bus.records (topic, key, headers, value) values ('engagement.events.v1', 'k', '{}', 'v')`;
  await append(delivery.sql);
  await expect(append(posts.sql)).rejects.toThrow("row-level security");
});

test("provisioning the database again does not wait for transactions that use the Postgres bus", async () => {
  await provisionDatabase(ownerUrl, roles);
  const [one = ""] = services;
  await as(serviceDatabaseUrl(ownerUrl, { service: one, password: "secret" }), async (sql) => {
    await sql.begin(async (tx) => {
      await tx`insert into bus.records (topic, key, headers, value) values (${`${one}.events.v1`}, 'k', '{}', 'v')`;
      await tx`insert into bus.positions (group_name, topic) values (${one}, 'topic')`;
      await provisionDatabase(ownerUrl, roles);
    });
  });
});
