import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { openSql, type Sql } from "@postrider/shared/postgres";
import { serviceDatabaseUrl } from "@postrider/shared/postgres/provision";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createServiceDatabase, MAIN } from "./tool.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createServiceDatabase("accounts");
});

afterAll(() => database[Symbol.asyncDispose]());

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the tool as a process with these environment variables only, as a container does. */
async function postrider(env: Record<string, string>, ...words: string[]): Promise<Ended> {
  try {
    const ended = await promisify(execFile)(process.execPath, [MAIN, ...words, "--json"], { env });
    return { code: 0, ...ended };
  } catch (error) {
    return error as Ended;
  }
}

// Other tests use the same roles of the cluster, so the test sets the password that they have already.
const PASSWORD = "postrider-test";
const PASSWORDS = {
  ACCOUNTS_DATABASE_PASSWORD: PASSWORD,
  POSTS_DATABASE_PASSWORD: PASSWORD,
  MEDIA_DATABASE_PASSWORD: PASSWORD,
  DELIVERY_DATABASE_PASSWORD: PASSWORD,
};

/** Lists the schemas in which the role of a service may create tables. */
async function readSchemas(service: string): Promise<readonly string[]> {
  const url = serviceDatabaseUrl(database.ownerUrl, { service, password: PASSWORD });
  const sql: Sql = openSql({ url, poolSize: 1, applicationName: "test" });
  try {
    const rows = await sql<{ name: string }[]>`
      select nspname as name
      from pg_namespace
      where has_schema_privilege(oid, 'create')`;
    return rows.map(({ name }) => name).filter((name) => !name.startsWith("pg_"));
  } finally {
    await sql.end({ timeout: 1 });
  }
}

test("`database provision` gives each service a schema of its own, and can be repeated", async () => {
  const env = { ...PASSWORDS, DATABASE_URL: database.ownerUrl };
  const services = ["accounts", "posts", "media", "delivery"];
  for (let times = 0; times < 2; times += 1) {
    const { code, stdout } = await postrider(env, "database", "provision");
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${JSON.stringify({ services })}\n` });
  }
  for (const service of services) expect(await readSchemas(service)).toEqual([service]);
});

test("`database provision` names all missing variables at once and shows no password", async () => {
  const env = { DATABASE_URL: database.ownerUrl, POSTS_DATABASE_PASSWORD: "not to be shown" };
  const { code, stderr } = await postrider(env, "database", "provision");
  expect(code).toBe(1);
  for (const service of ["ACCOUNTS", "MEDIA", "DELIVERY"])
    expect(stderr).toContain(`${service}_DATABASE_PASSWORD is required`);
  expect(stderr).not.toContain("not to be shown");
  expect(stderr).not.toContain(new URL(database.ownerUrl).password);
});

test("`topics create` fails without KAFKA_BROKERS", async () => {
  const { code, stderr } = await postrider({}, "topics", "create");
  expect(code).toBe(1);
  expect(stderr).toContain("KAFKA_BROKERS is required");
});
