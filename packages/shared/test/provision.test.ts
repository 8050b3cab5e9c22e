import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, expect, inject, test } from "vitest";
import { openSql, type Sql } from "#src/postgres.ts";
import { provisionDatabase, serviceDatabaseUrl } from "#src/postgres/provision.ts";

// Roles belong to the cluster, which tests share, so this test has roles of its own.
const name = `provision_${randomBytes(4).toString("hex")}`;
const services = [`${name}_one`, `${name}_two`];
const roles = services.map((service) => ({ service, password: "secret" }));

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
  for (const service of services) await cluster.unsafe(`drop role if exists postrider_${service}`);
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

test("a database owner who is not a superuser can provision twice with different passwords, and cannot read a service's tables", async () => {
  await provisionDatabase(ownerUrl, roles);
  const [one] = services;
  const changed = roles.map((role) => ({ ...role, password: "changed" }));
  await provisionDatabase(ownerUrl, changed);
  const url = serviceDatabaseUrl(ownerUrl, { service: one ?? "", password: "changed" });
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
