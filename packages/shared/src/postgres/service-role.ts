import type { TransactionSql } from "#src/postgres.ts";
import { toScramVerifier } from "#src/postgres/scram.ts";

/** A service with a database schema, and the passwords of its two roles. */
export interface ServiceRole {
  /** Name of the service and of its schema, for example `posts`. */
  readonly service: string;
  /** Password of the runtime role, with which the processes of the service connect. It owns nothing. */
  readonly password: string;
  /** Password of the migration role, which owns the schema and its tables. Only migrations connect with it. */
  readonly migrationPassword: string;
}

/** Returns the name of the runtime role of a service. */
export function runtimeRoleOf(service: string): string {
  return `postrider_${service}`;
}

/** Returns the name of the migration role of a service. */
export function migrationRoleOf(service: string): string {
  return `postrider_${service}_migration`;
}

/**
 * Settings of the runtime roles. They are set on the role, because session settings leak through a transaction pooler.
 */
const RUNTIME_SETTINGS = {
  statement_timeout: "10s",
  // The cost of random reads is set low, because our statements read rows by key, and random reads from SSDs or memory
  // cost little more than sequential reads.
  random_page_cost: "1.1",
  idle_in_transaction_session_timeout: "10s",
  // `statement_timeout` and `idle_in_transaction_session_timeout` do not cover a client that stops between parsing and
  // binding a statement. `transaction_timeout` does; without it, the locks of the client would be held until it
  // disconnects.
  transaction_timeout: "15s",
};

interface LoginRole {
  readonly name: string;
  readonly password: string;
  readonly settings: Readonly<Record<string, string>>;
}

async function createRole(tx: TransactionSql, role: LoginRole): Promise<void> {
  const { name, settings } = role;
  const [existing] = await tx<{ config: string[] }[]>`
    select coalesce(rolconfig, '{}') as config
    from pg_roles
    where rolname = ${name}`;
  if (existing === undefined) await tx.unsafe(`create role ${name} login`);
  await tx.unsafe(`alter role ${name} password '${toScramVerifier(role.password)}'`);
  for (const [key, value] of Object.entries(settings))
    if (existing?.config.includes(`${key}=${value}`) !== true)
      await tx.unsafe(`alter role ${name} set ${key} = '${value}'`);
}

/**
 * Lets the current user create objects for a role with `set role`. On managed databases the owner of the database is not a
 * superuser: it may create a role, but must be a member to act for it.
 */
async function joinRole(tx: TransactionSql, name: string): Promise<void> {
  const [may] = await tx<{ set: boolean }[]>`select pg_has_role(${name}, 'set') as set`;
  if (may?.set !== true)
    await tx.unsafe(`grant ${name} to current_user with inherit false, set true`);
}

/** Creates the two roles of a service with their settings, or sets their passwords again. */
export async function createRoles(tx: TransactionSql, role: ServiceRole): Promise<void> {
  const { service, password, migrationPassword } = role;
  const search = { search_path: service };
  const runtime = runtimeRoleOf(service);
  const migration = migrationRoleOf(service);
  await createRole(tx, { name: runtime, password, settings: { ...search, ...RUNTIME_SETTINGS } });
  await createRole(tx, { name: migration, password: migrationPassword, settings: search });
  await joinRole(tx, runtime);
  await joinRole(tx, migration);
}

function databaseUrlOf(ownerUrl: string, name: string, password: string): string {
  const url = new URL(ownerUrl);
  url.username = name;
  url.password = encodeURIComponent(password);
  return url.toString();
}

/** Returns the connection string of a service's runtime role for the database of `ownerUrl`. */
export function serviceDatabaseUrl(
  ownerUrl: string,
  { service, password }: Pick<ServiceRole, "service" | "password">,
): string {
  return databaseUrlOf(ownerUrl, runtimeRoleOf(service), password);
}

/** Returns the connection string of a service's migration role for the database of `ownerUrl`. */
export function migrationDatabaseUrl(
  ownerUrl: string,
  { service, migrationPassword }: Pick<ServiceRole, "service" | "migrationPassword">,
): string {
  return databaseUrlOf(ownerUrl, migrationRoleOf(service), migrationPassword);
}
