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
 * Concurrent provisionings of a database wait for each other. A statement that needs a lock fails
 * soon instead of making the services wait behind a long transaction: provisioning can be repeated.
 */
async function prepare(tx: TransactionSql): Promise<void> {
  await tx`select pg_advisory_xact_lock(hashtext('postrider.provision'))`;
  await tx`set local lock_timeout = '5s'`;
}

async function grantAsOwner(sql: Sql, service: string): Promise<void> {
  await sql.begin(async (tx) => {
    await prepare(tx);
    await tx.unsafe(`set local role ${migrationRoleOf(service)}`);
    await grantRuntime(tx, service, runtimeRoleOf(service));
  });
}

/**
 * For each service a schema, a migration role that owns it, and a runtime role that can only read
 * and write rows; and the schema of the Postgres bus. Needs the database owner. Repeating it sets
 * passwords again and adds rights of a newer release. A role can use no schema of another service.
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
