import { Code } from "@connectrpc/connect";
import { afterAll, expect, inject, test } from "vitest";
import { isTransientError } from "#src/bus/retries.ts";
import { mapServerError } from "#src/errors/connect.ts";
import { isDamagedData, isInfrastructureError, openSql, type Sql } from "#src/postgres.ts";
import { renameDatabase } from "#src/testing/rename-database.ts";
import { createDatabase, logger } from "./test-service.ts";

/** Connection to another database of the server: Postgres refuses to close a database to itself. */

const database = await createDatabase(1);
const cluster = openSql({ url: inject("postgresUrl"), poolSize: 1, applicationName: "test" });
const role = `refused_${new URL(database.ownerUrl).pathname.slice(-12)}`;
await database.ownerSql.unsafe(`create role ${role} login password 'first'`);

afterAll(async () => {
  await database.ownerSql.unsafe(`drop role ${role}`);
  await cluster.end({ timeout: 1 });
  await database[Symbol.asyncDispose]();
});

const nameOf = () => new URL(database.ownerUrl).pathname.slice(1);

async function failureOf(work: (sql: Sql) => PromiseLike<unknown>): Promise<unknown> {
  const url = new URL(database.ownerUrl);
  url.username = role;
  url.password = "first";
  const sql = openSql({ url: url.toString(), poolSize: 1, applicationName: "refused" });
  try {
    return await work(sql).then(
      () => "no failure",
      (error: unknown) => error,
    );
  } finally {
    await sql.end({ timeout: 1 });
  }
}

/**
 * What an operator changes, the SQLSTATE with which new connections are refused, and how it is
 * undone.
 */
const CHANGES = [
  [
    "the password of the role",
    "28P01",
    "alter role ROLE password 'second'",
    "alter role ROLE password 'first'",
  ],
  ["the right of the role to log in", "28000", "alter role ROLE nologin", "alter role ROLE login"],
  [
    "the right to connect to the database",
    "42501",
    "revoke connect on database NAME from public",
    "grant connect on database NAME to public",
  ],
  [
    "whether the database accepts connections",
    "55000",
    "alter database NAME allow_connections false",
    "alter database NAME allow_connections true",
  ],
  [
    "the maximum number of connections of the role",
    "53300",
    "alter role ROLE connection limit 0",
    "alter role ROLE connection limit -1",
  ],
] as const;

test.each(CHANGES)(
  "a statement that fails after %s was changed (%s) is retried, and an RPC answers unavailable",
  async (_what, code, change, undo) => {
    const run = (statement: string) =>
      cluster.unsafe(statement.replace("ROLE", role).replace("NAME", nameOf()));
    await run(change);
    const error = await failureOf((sql) => sql`select 1`);
    await run(undo);
    expect(error).toMatchObject({ code });
    expect(isTransientError(error)).toBe(true);
    expect(mapServerError(error, "GetPost", logger).code).toBe(Code.Unavailable);
  },
);

test("a statement that fails because the database was renamed (3D000) is retried", async () => {
  let error: unknown;
  {
    await using _renamed = await renameDatabase(database);
    error = await failureOf((sql) => sql`select 1`);
  }
  expect(error).toMatchObject({ code: "3D000" });
  expect(isTransientError(error)).toBe(true);
});

test("a statement that fails because a table may not be read (42501) or is not restored yet (42P01) is retried", async () => {
  const unpermitted = await failureOf((sql) => sql`select 1 from sample.effects`);
  const missing = await failureOf((sql) => sql`select 1 from not_restored`);
  expect(unpermitted).toMatchObject({ code: "42501" });
  expect(missing).toMatchObject({ code: "42P01" });
  expect([unpermitted, missing].map(isInfrastructureError)).toEqual([true, true]);
});

test("a statement that outlasts its time limit (57014) or the limit of its transaction (25P04) is retried", async () => {
  const late = await failureOf((sql) =>
    sql.begin(async (tx) => {
      await tx`set local statement_timeout = 20`;
      await tx`select pg_sleep(5)`;
    }),
  );
  const long = await failureOf((sql) =>
    sql.begin(async (tx) => {
      await tx`set local transaction_timeout = 20`;
      await tx`select pg_sleep(5)`;
    }),
  );
  // The driver reports the end of the connection instead of the 25P04 that the server sent before
  // it.
  expect([late, long]).toMatchObject([{ code: "57014" }, { code: "CONNECTION_CLOSED" }]);
  expect([late, long].map(isInfrastructureError)).toEqual([true, true]);
});

test("a damaged page (XX001) or index (XX002) is an infrastructure error that depends on the rows, and RPCs answer it with internal", async () => {
  const failures = await Promise.all(
    ["XX001", "XX002"].map((state) =>
      failureOf((sql) =>
        sql.unsafe(`do $$ begin raise 'damaged' using errcode = '${state}'; end $$`),
      ),
    ),
  );
  expect(failures.map(isInfrastructureError)).toEqual([true, true]);
  expect(failures.map(isDamagedData)).toEqual([true, true]);
  expect(failures.map(isTransientError)).toEqual([false, false]);
  const codes = failures.map((error) => mapServerError(error, "GetPost", logger).code);
  expect(codes).toEqual([Code.Internal, Code.Internal]);
});

test.each([
  ["a text is not valid for its type", "22P02", (sql: Sql) => sql`select ${"no uuid"}::text::uuid`],
  ["a statement divides by zero", "22012", (sql: Sql) => sql`select 1 / ${0}::int`],
  [
    "a value is too long for its index",
    "54000",
    (sql: Sql) =>
      sql.begin(async (tx) => {
        await tx`create temporary table long_values (value text primary key) on commit drop`;
        await tx`
          insert into long_values
          select string_agg(md5(number::text), '') from generate_series(1, 1000) as number`;
      }),
  ],
  [
    "it uses what Postgres does not support",
    "0A000",
    (sql: Sql) => sql`select count(*) from pg_class for update`,
  ],
  ["a column does not exist", "42703", (sql: Sql) => sql`select unknown_column from pg_class`],
  [
    "a trigger or function raises an error",
    "P0001",
    (sql: Sql) => sql`do $$ begin raise 'refused'; end $$`,
  ],
  ["a parameter is undefined", "UNDEFINED_VALUE", (sql: Sql) => sql`select ${undefined as never}`],
] as const)(
  "a statement that fails because %s (%s) is refused and not retried",
  async (_what, code, work) => {
    const error = await failureOf(work);
    expect(error).toMatchObject({ code });
    expect(isTransientError(error)).toBe(false);
    expect(mapServerError(error, "GetPost", logger).code).toBe(Code.Internal);
  },
);

test.each([
  "ENETUNREACH",
  "ENETDOWN",
  "EPROTO",
  "EMFILE",
  "CERT_HAS_EXPIRED",
  "ERR_SSL_WRONG_VERSION_NUMBER",
  "SASL_SIGNATURE_MISMATCH",
])("a connection that fails with %s is opened again", (code) => {
  expect(isInfrastructureError(Object.assign(new Error("connect"), { code }))).toBe(true);
});

test("an error that the driver reports for a statement counts as one of the database even without a code", async () => {
  const error = Object.assign(new Error("unexpected message of the server"), { query: "select 1" });
  expect(isInfrastructureError(error)).toBe(true);
});

test("an error of Postrider's own code, of a file, or of a platform does not count as one of the database", () => {
  const errors = [
    new Error("no such account"),
    new TypeError("undefined is not a function"),
    Object.assign(new TypeError("wrong argument"), { code: "ERR_INVALID_ARG_TYPE" }),
    Object.assign(new Error("open"), { code: "ENOENT", path: "/tmp/file" }),
    Object.assign(new Error("refused"), { code: "content_rejected" }),
    "text",
  ];
  expect(errors.map(isInfrastructureError)).toEqual(errors.map(() => false));
});
