import { readFileSync } from "node:fs";
import { openSql, type Sql, type TransactionSql } from "#src/postgres.ts";
import { grantBus } from "#src/postgres/bus-rights.ts";

export interface ServiceRole {
  /** Name of the service and of its schema, for example `posts`. */
  readonly service: string;
  readonly password: string;
}

const BUS_SQL = readFileSync(new URL("./bus.sql", import.meta.url), "utf8");

async function provisionService(tx: TransactionSql, role: ServiceRole): Promise<void> {
  const name = `postrider_${role.service}`;
  const exists = await tx`select 1 from pg_roles where rolname = ${name}`;
  if (exists.length === 0) await tx.unsafe(`create role ${name} login`);
  await tx.unsafe(`alter role ${name} password '${role.password.replaceAll("'", "''")}'`);
  // Timeouts and search path are set on the role, because session settings leak through a transaction pooler.
  await tx.unsafe(`alter role ${name} set search_path = ${role.service}`);
  await tx.unsafe(`alter role ${name} set statement_timeout = '10s'`);
  // The cost of random reads is set low, because our statements read rows by key, and random reads from SSDs or memory
  // cost little more than sequential reads.
  await tx.unsafe(`alter role ${name} set random_page_cost = 1.1`);
  await tx.unsafe(`alter role ${name} set idle_in_transaction_session_timeout = '10s'`);
  // `statement_timeout` and `idle_in_transaction_session_timeout` do not cover a client that stops between parsing and
  // binding a statement. `transaction_timeout` does; without it, the locks of the client would be held until it
  // disconnects.
  await tx.unsafe(`alter role ${name} set transaction_timeout = '15s'`);
  // On managed databases the owner is not a superuser: it may create a role, but must be a member to create its schema.
  const [may] = await tx<{ set: boolean }[]>`select pg_has_role(${name}, 'set') as set`;
  if (may?.set !== true)
    await tx.unsafe(`grant ${name} to current_user with inherit false, set true`);
  await tx.unsafe(`create schema if not exists ${role.service} authorization ${name}`);
  await grantBus(tx, role.service, name);
}

/**
 * Prepares the database for the services: a schema and a login role for each, and the schema of the Postgres bus. It
 * needs a connection of the database owner. Repeating it sets the passwords again and adds rights that a newer release needs.
 * A role can use its own schema and its part of the bus, but no schema of another service.
 */
export async function provisionDatabase(
  ownerUrl: string,
  roles: readonly ServiceRole[],
): Promise<void> {
  const sql: Sql = openSql({ url: ownerUrl, poolSize: 1, applicationName: "postrider-provision" });
  try {
    await sql.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtext('postrider.provision'))`;
      // The first run of a release that adds rights locks the tables of the Postgres bus for a moment. The run fails instead of
      // making the services wait behind a long transaction, and can be repeated.
      await tx`set local lock_timeout = '5s'`;
      await tx.unsafe(BUS_SQL);
      for (const role of roles) await provisionService(tx, role);
    });
  } finally {
    await sql.end({ timeout: 5 });
  }
}

/** Returns the connection string of a service's role for the database of `ownerUrl`. */
export function serviceDatabaseUrl(ownerUrl: string, role: ServiceRole): string {
  const url = new URL(ownerUrl);
  url.username = `postrider_${role.service}`;
  url.password = encodeURIComponent(role.password);
  return url.toString();
}
