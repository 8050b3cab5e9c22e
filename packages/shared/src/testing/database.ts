import { createHash, randomBytes } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { openSql, type Sql, type TransactionSql } from "#src/postgres.ts";
import { migrate } from "#src/postgres/migrations.ts";
import { provisionDatabase } from "#src/postgres/provision.ts";
import {
  migrationDatabaseUrl,
  serviceDatabaseUrl,
  type ServiceRole,
} from "#src/postgres/service-role.ts";

declare module "vitest" {
  // oxlint-disable-next-line typescript/consistent-type-definitions -- only an interface can be merged
  interface ProvidedContext {
    postgresUrl: string;
  }
}

export interface TestDatabaseOptions {
  readonly service: string;
  readonly migrationsFolder: string;
  /** Maximum number of connections of the pool `sql`. Default: 5. */
  readonly poolSize?: number;
}

export interface TestDatabase extends AsyncDisposable {
  /**
   * A connection pool with the service's runtime role, which owns nothing, as in production. A
   * statement may take longer than in production, because tests fill tables with it.
   */
  readonly sql: Sql;
  /** A connection pool with the service's migration role, for tests that change or empty tables. */
  readonly migrationSql: Sql;
  /** For operations that the service's role may not execute. */
  readonly ownerSql: Sql;
  readonly url: string;
  readonly migrationUrl: string;
  readonly ownerUrl: string;
}

const PASSWORD = "postrider-test";
const PATIENT_MS = 100_000;
/**
 * Id of the Postgres advisory lock under which template databases are created one after the other,
 * because databases share roles and each template must be created once.
 */
const TEMPLATE_LOCK = 7_263_401;

/**
 * Connection of the cluster's owner, with which the test process creates and drops databases. It
 * stays open for all test files of the process, because a connection costs more processor time than
 * a statement.
 */
let cluster: Sql | undefined;

/** The template is migrated once per service and set of migrations. */
export async function createTestDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const clusterUrl = inject("postgresUrl");
  const role: ServiceRole = {
    service: options.service,
    password: PASSWORD,
    migrationPassword: PASSWORD,
    ...(options.service === "delivery" ? { webhooksPassword: PASSWORD } : {}),
  };
  const name = `test_${options.service}_${randomBytes(6).toString("hex")}`;
  cluster ??= openPatient(clusterUrl, 1, "cluster");
  const template = await findTemplate(cluster, clusterUrl, role, options.migrationsFolder);
  await cluster.unsafe(`create database ${name} template ${template} strategy file_copy`);
  const ownerUrl = withDatabase(clusterUrl, name);
  const url = serviceDatabaseUrl(ownerUrl, role);
  const poolSize = options.poolSize ?? 5;
  const patient = `${url}?statement_timeout=${PATIENT_MS}&transaction_timeout=${PATIENT_MS}`;
  const sql = openPatient(patient, poolSize, options.service);
  const ownerSql = openPatient(ownerUrl, 2, "owner");
  const migrationUrl = migrationDatabaseUrl(ownerUrl, role);
  const migrationSql = openPatient(migrationUrl, 1, "migration");
  return {
    sql,
    migrationSql,
    ownerSql,
    url,
    migrationUrl,
    ownerUrl,
    async [Symbol.asyncDispose]() {
      await Promise.all([sql, migrationSql, ownerSql].map((pool) => pool.end({ timeout: 1 })));
      await cluster?.unsafe(`drop database ${name} with (force)`);
    },
  };
}

/** Of which no statement is given up, however slow the machine is. */
function openPatient(url: string, poolSize: number, name: string): Sql {
  return openSql({ url, poolSize, applicationName: `test-${name}`, answerTimeoutMs: null });
}

function withDatabase(url: string, name: string): string {
  const changed = new URL(url);
  changed.pathname = `/${name}`;
  return changed.toString();
}

/** Their contents are part of the name of a template database. */
const PROVISIONING = [
  "../bus/topics.ts",
  "audit-log.sql",
  "bus.sql",
  "outbox.sql",
  "provision.ts",
  "runtime-rights.ts",
  "service-role.ts",
];

/** With a hash of the migrations, so that a changed migration leads to a new template. */
function templateName(service: string, folder: string): string {
  const hash = createHash("sha256");
  const shared = new URL("../postgres/", import.meta.url).pathname;
  for (const file of PROVISIONING) hash.update(readFileSync(join(shared, file)));
  for (const file of readdirSync(folder).toSorted())
    hash.update(file).update(readFileSync(join(folder, file)));

  return `template_${service}_${hash.digest("hex").slice(0, 12)}`;
}

async function findTemplate(
  owner: Sql,
  clusterUrl: string,
  role: ServiceRole,
  folder: string,
): Promise<string> {
  const name = templateName(role.service, folder);
  if (!(await hasDatabase(owner, name))) await ensureTemplate(clusterUrl, role, folder, name);
  return name;
}

async function hasDatabase(owner: Sql, name: string): Promise<boolean> {
  const found = await owner`select 1 from pg_database where datname = ${name}`;
  return found.length > 0;
}

async function ensureTemplate(
  clusterUrl: string,
  role: ServiceRole,
  folder: string,
  name: string,
): Promise<void> {
  const owner = openPatient(clusterUrl, 1, "template");
  try {
    // Other tests may create the same template at the same time, so a lock is taken. The lock
    // belongs to this connection and ends with it.
    await owner`select pg_advisory_lock(${TEMPLATE_LOCK})`;
    if (!(await hasDatabase(owner, name)))
      await makeTemplate(owner, clusterUrl, role, folder, name);
  } finally {
    await owner.end({ timeout: 1 });
  }
}

/**
 * Tests of the operator's tool provision the same roles in databases of their own, where no lock of
 * ours is seen, and Postgres lets one of two transactions that change a role fail.
 */
async function provisionAlone(url: string, role: ServiceRole): Promise<void> {
  for (;;)
    try {
      return await provisionDatabase(url, [role]);
    } catch (error) {
      if (!String(error).includes("tuple concurrently updated")) throw error;
    }
}

async function makeTemplate(
  owner: Sql,
  clusterUrl: string,
  role: ServiceRole,
  folder: string,
  name: string,
): Promise<void> {
  // A template database gets its name when it is complete, because an incomplete template would
  // break every later test.
  const draft = `${name}_draft`;
  await owner.unsafe(`drop database if exists ${draft} with (force)`);
  await owner.unsafe(`create database ${draft}`);
  const draftUrl = withDatabase(clusterUrl, draft);
  await provisionAlone(draftUrl, role);
  const sql = openSql({
    url: migrationDatabaseUrl(draftUrl, role),
    poolSize: 1,
    applicationName: "test-migrate",
  });
  await migrate(sql, folder);
  await sql.end({ timeout: 1 });
  await owner.unsafe(`alter database ${draft} rename to ${name}`);
}

/** Begins a transaction, whose locks are held until the returned function has ended it. */
export async function holdTransaction(
  sql: Sql,
  work: (tx: TransactionSql) => Promise<unknown>,
): Promise<() => Promise<void>> {
  const begun = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  const transaction = sql.begin(async (tx) => {
    await work(tx);
    begun.resolve();
    await released.promise;
  });
  await Promise.race([begun.promise, transaction]);
  return async () => {
    released.resolve();
    await transaction;
  };
}
