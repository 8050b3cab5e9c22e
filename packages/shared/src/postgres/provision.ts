import { readFileSync } from "node:fs";
import { openSql, type Sql, type TransactionSql } from "#src/postgres.ts";
import { grantBus } from "#src/postgres/bus-rights.ts";
import { grantRuntime } from "#src/postgres/runtime-rights.ts";
import {
  createRoles,
  migrationRoleOf,
  runtimeRoleOf,
  type ServiceRole,
} from "#src/postgres/service-role.ts";

const BUS_SQL = readFileSync(new URL("./bus.sql", import.meta.url), "utf8");

async function provisionService(tx: TransactionSql, role: ServiceRole): Promise<void> {
  const { service } = role;
  await createRoles(tx, role);
  await tx.unsafe(
    `create schema if not exists ${service} authorization ${migrationRoleOf(service)}`,
  );
  await grantBus(tx, service, runtimeRoleOf(service));
}

/**
 * Takes a lock that makes concurrent provisionings of the same database wait for each other. A statement that needs a
 * lock fails after a short time instead of making the services wait behind a long transaction: provisioning can be
 * repeated, and continues where it failed.
 */
async function prepare(tx: TransactionSql): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('postrider.provision'))`;
  await tx`set local lock_timeout = '5s'`;
}

/** Grants the runtime role its rights on everything that the migration role owns. */
async function grantAsOwner(sql: Sql, service: string): Promise<void> {
  await sql.begin(async (tx) => {
    await prepare(tx);
    await tx.unsafe(`set local role ${migrationRoleOf(service)}`);
    await grantRuntime(tx, service, runtimeRoleOf(service));
  });
}

/**
 * Prepares the database for the services: for each a schema, a migration role that owns the schema, and a runtime role that can
 * only read and write the rows of its tables; and the schema of the Postgres bus. It needs a connection of the database owner.
 * Repeating it sets the passwords again and adds rights that a newer release needs.
 * A role can use its own schema and its part of the bus, but no schema of another service.
 */
export async function provisionDatabase(
  ownerUrl: string,
  roles: readonly ServiceRole[],
): Promise<void> {
  const sql: Sql = openSql({ url: ownerUrl, poolSize: 1, applicationName: "postrider-provision" });
  try {
    await sql.begin(async (tx) => {
      await prepare(tx);
      await tx.unsafe(BUS_SQL);
      for (const role of roles) await provisionService(tx, role);
    });
    for (const { service } of roles) await grantAsOwner(sql, service);
  } finally {
    await sql.end({ timeout: 5 });
  }
}
