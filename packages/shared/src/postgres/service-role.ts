import { createHash, createHmac, pbkdf2Sync, randomBytes } from "node:crypto";
import type { TransactionSql } from "#src/postgres.ts";

/** As Postgres itself (`scram_iterations`). */
const ITERATIONS = 4096;
const HASH = "sha256";
const HASH_BYTES = 32;

/**
 * The SCRAM-SHA-256 verifier (RFC 5802, RFC 7677), which Postgres accepts in the place of the
 * password: so that appears neither in the log of statements nor in `pg_stat_activity`. The
 * verifier cannot be used to log in.
 */
export function toScramVerifier(password: string, salt: Buffer = randomBytes(16)): string {
  // Like the driver, without SASLprep: the two differ only for characters that have several forms
  // in Unicode.
  const salted = pbkdf2Sync(password, salt, ITERATIONS, HASH_BYTES, HASH);
  const keyOf = (name: string): Buffer => createHmac(HASH, salted).update(name).digest();
  const storedKey = createHash(HASH).update(keyOf("Client Key")).digest("base64");
  const serverKey = keyOf("Server Key").toString("base64");
  return `SCRAM-SHA-256$${ITERATIONS}:${salt.toString("base64")}$${storedKey}:${serverKey}`;
}

export interface ServiceRole {
  /** Name of the service and of its schema. */
  readonly service: string;
  /** Processes connect with the runtime role, which owns nothing. */
  readonly password: string;
  /** Only migrations connect with this role, which owns the schema. */
  readonly migrationPassword: string;
  /**
   * Processes that only send webhooks connect with this role, which can use few tables; without a
   * password there is none.
   */
  readonly webhooksPassword?: string | undefined;
}

export function runtimeRoleOf(service: string): string {
  return `postrider_${service}`;
}

export function webhooksRoleOf(service: string): string {
  return `${runtimeRoleOf(service)}_webhooks`;
}

export function migrationRoleOf(service: string): string {
  return `postrider_${service}_migration`;
}

/** On the role, because session settings leak through a transaction pooler. */
const RUNTIME_SETTINGS = {
  statement_timeout: "10s",
  // Our statements read rows by key, and random reads from SSDs or memory cost little more than
  // sequential ones.
  random_page_cost: "1.1",
  idle_in_transaction_session_timeout: "10s",
  // The other timeouts do not cover a client that stops between parsing and binding a statement,
  // whose locks would be held until it disconnects.
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

/** On managed databases the owner must be a member of a role to act for it. */
async function joinRole(tx: TransactionSql, name: string): Promise<void> {
  const [may] = await tx<{ set: boolean }[]>`select pg_has_role(${name}, 'set') as set`;
  if (may?.set !== true)
    await tx.unsafe(`grant ${name} to current_user with inherit false, set true`);
}

/** Or sets their passwords again. */
export async function createRoles(tx: TransactionSql, role: ServiceRole): Promise<void> {
  const { service, password, migrationPassword, webhooksPassword } = role;
  const search = { search_path: service };
  const settings = { ...search, ...RUNTIME_SETTINGS };
  const runtime = runtimeRoleOf(service);
  const migration = migrationRoleOf(service);
  await createRole(tx, { name: runtime, password, settings });
  if (webhooksPassword !== undefined)
    await createRole(tx, { name: webhooksRoleOf(service), password: webhooksPassword, settings });
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

export function serviceDatabaseUrl(
  ownerUrl: string,
  { service, password }: Pick<ServiceRole, "service" | "password">,
): string {
  return databaseUrlOf(ownerUrl, runtimeRoleOf(service), password);
}

export function webhooksDatabaseUrl(ownerUrl: string, service: string, password: string): string {
  return databaseUrlOf(ownerUrl, webhooksRoleOf(service), password);
}

export function migrationDatabaseUrl(
  ownerUrl: string,
  { service, migrationPassword }: Pick<ServiceRole, "service" | "migrationPassword">,
): string {
  return databaseUrlOf(ownerUrl, migrationRoleOf(service), migrationPassword);
}
