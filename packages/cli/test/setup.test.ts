import { execFile } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { promisify } from "node:util";
import { openSql, type Sql } from "@postrider/shared/postgres";
import { migrationDatabaseUrl, serviceDatabaseUrl } from "@postrider/shared/postgres/service-role";
import type { TestDatabase } from "@postrider/shared/testing/database";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import type { Settings } from "#src/config.ts";
import { createServiceDatabase, MAIN, runTool } from "./tool.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createServiceDatabase("accounts");
});

afterAll(() => database[Symbol.asyncDispose]());

const NO_SERVICES: Settings = {
  urls: { accounts: undefined, posts: undefined, media: undefined, delivery: undefined },
  identity: undefined,
};

const VARIABLES = [
  "DATABASE_URL",
  "ACCOUNTS_DATABASE_PASSWORD",
  "POSTS_DATABASE_PASSWORD",
  "MEDIA_DATABASE_PASSWORD",
  "DELIVERY_DATABASE_PASSWORD",
  "ACCOUNTS_MIGRATION_PASSWORD",
  "POSTS_MIGRATION_PASSWORD",
  "MEDIA_MIGRATION_PASSWORD",
  "DELIVERY_MIGRATION_PASSWORD",
  "KAFKA_BROKERS",
] as const;

/**
 * Runs a command with these environment variables and without all other variables that the tool
 * reads.
 */
async function postrider(env: Readonly<Record<string, string>>, ...words: readonly string[]) {
  for (const name of VARIABLES) vi.stubEnv(name, env[name]);
  try {
    return await runTool([...words, "--json"], NO_SERVICES);
  } finally {
    vi.unstubAllEnvs();
  }
}

// Other tests use the same roles of the cluster, so this test sets the passwords that the roles
// already have.
const PASSWORD = "postrider-test";
const PASSWORDS = {
  ACCOUNTS_DATABASE_PASSWORD: PASSWORD,
  POSTS_DATABASE_PASSWORD: PASSWORD,
  MEDIA_DATABASE_PASSWORD: PASSWORD,
  DELIVERY_DATABASE_PASSWORD: PASSWORD,
  ACCOUNTS_MIGRATION_PASSWORD: PASSWORD,
  POSTS_MIGRATION_PASSWORD: PASSWORD,
  MEDIA_MIGRATION_PASSWORD: PASSWORD,
  DELIVERY_MIGRATION_PASSWORD: PASSWORD,
};

/** Lists the schemas in which the role of a connection may create tables. */
async function readSchemas(url: string): Promise<readonly string[]> {
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

test("`database provision` creates a schema for each service in which only the service's migration role may create tables, and can be repeated", async () => {
  const env = { ...PASSWORDS, DATABASE_URL: database.ownerUrl };
  const services = ["accounts", "posts", "media", "delivery"];
  const printed = JSON.stringify({ services });
  // The first run of `database provision` is a process with only these environment variables, as in
  // a container.
  const words = [MAIN, "database", "provision", "--json"];
  const { stdout } = await promisify(execFile)(process.execPath, words, { env });
  expect(stdout).toBe(`${printed}\n`);
  const again = await postrider(env, "database", "provision");
  expect(again).toEqual({ exitCode: 0, printed, errors: "" });
  for (const service of services) {
    const role = { service, password: PASSWORD, migrationPassword: PASSWORD };
    expect(await readSchemas(migrationDatabaseUrl(database.ownerUrl, role))).toEqual([service]);
    expect(await readSchemas(serviceDatabaseUrl(database.ownerUrl, role))).toEqual([]);
  }
});

test("`database provision` waits for a Postgres that is starting and closes connections", async () => {
  const { hostname, port } = new URL(database.ownerUrl);
  let connections = 0;
  const proxy = createServer((socket) => {
    socket.on("error", () => {});
    connections += 1;
    if (connections === 1) {
      socket.destroy();
      return;
    }
    const server = connect(Number(port), hostname);
    server.on("error", () => socket.destroy());
    socket.pipe(server).pipe(socket);
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const url = new URL(database.ownerUrl);
  url.port = String((proxy.address() as AddressInfo).port);
  const env = { ...PASSWORDS, DATABASE_URL: url.toString() };
  expect(await postrider(env, "database", "provision")).toMatchObject({ exitCode: 0, errors: "" });
  expect(connections).toBeGreaterThan(1);
  proxy.close();
});

test("`database provision` names all missing variables in one run and shows no password", async () => {
  const env = { DATABASE_URL: database.ownerUrl, POSTS_DATABASE_PASSWORD: "not to be shown" };
  const { exitCode, errors } = await postrider(env, "database", "provision");
  expect(exitCode).toBe(1);
  for (const service of ["ACCOUNTS", "MEDIA", "DELIVERY"])
    for (const role of ["DATABASE", "MIGRATION"])
      expect(errors).toContain(`${service}_${role}_PASSWORD is required`);
  expect(errors).not.toContain("not to be shown");
  expect(errors).not.toContain(new URL(database.ownerUrl).password);
});

test("`topics create` fails without KAFKA_BROKERS", async () => {
  const { exitCode, errors } = await postrider({}, "topics", "create");
  expect(exitCode).toBe(1);
  expect(errors).toContain("KAFKA_BROKERS is required");
});

test("`topics grant --dry-run` lists the rights of each service's Kafka user and calls no broker", async () => {
  const { exitCode, printed } = await postrider(
    {},
    "topics",
    "grant",
    "--dry-run",
    "--prefix",
    "p-",
  );
  expect(exitCode).toBe(0);
  const { rights } = JSON.parse(printed) as { rights: readonly Record<string, string>[] };
  const ofPosts = rights.filter(({ principal }) => principal === "User:p-posts");
  expect(
    ofPosts.map(({ operation, resource, pattern, name }) =>
      [operation, resource, pattern, name].join(" "),
    ),
  ).toEqual([
    "write topic literal backlog.events.v1",
    "describe topic literal backlog.events.v1",
    "write topic literal posts.events.v1",
    "describe topic literal posts.events.v1",
    "read topic literal delivery.events.v1",
    "describe topic literal delivery.events.v1",
    "read topic literal engagement.events.v1",
    "describe topic literal engagement.events.v1",
    "read group prefixed posts.",
    "describe group prefixed posts.",
  ]);
  const users = ["accounts", "delivery", "delivery-webhooks", "media", "posts"];
  expect([...new Set(rights.map(({ principal }) => principal))]).toEqual(
    users.map((user) => `User:p-${user}`),
  );
  const ofWebhooks = rights.filter(({ principal }) => principal === "User:p-delivery-webhooks");
  expect(ofWebhooks.filter(({ operation }) => operation === "write")).toEqual([]);
  expect(ofWebhooks).toContainEqual({
    principal: "User:p-delivery-webhooks",
    resource: "group",
    name: "delivery.webhooks.",
    pattern: "prefixed",
    operation: "read",
  });
});

test("`topics grant` requires the address of a broker", async () => {
  const { exitCode, errors } = await postrider({}, "topics", "grant");
  expect(exitCode).toBe(1);
  expect(errors).toContain("KAFKA_BROKERS is required");
});
