import { inject } from "vitest";
import { openSql, type Sql } from "#src/postgres.ts";
import type { TestDatabase } from "#src/testing/database.ts";
import { eventually } from "#src/testing/poll.ts";

/**
 * Closes all connections to a test database and gives it another name, so that Postgres refuses new
 * connections with the SQLSTATE 3D000. Disposing of the result restores the name.
 */
export async function renameDatabase({ ownerUrl }: TestDatabase): Promise<AsyncDisposable> {
  const name = new URL(ownerUrl).pathname.slice(1);
  const cluster = openSql({
    url: inject("postgresUrl"),
    poolSize: 1,
    applicationName: "test-rename",
  });
  await eventually(async () => {
    await cluster`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = ${name}`;
    await cluster.unsafe(`alter database ${name} rename to ${name}_hidden`);
  });
  return {
    async [Symbol.asyncDispose]() {
      await cluster.unsafe(`alter database ${name}_hidden rename to ${name}`);
      await cluster.end({ timeout: 1 });
    },
  };
}

export interface CountedPool {
  readonly sql: Sql;
  failures(): number;
}

export function countFailures(sql: Sql): CountedPool {
  let failures = 0;
  const begin = (...given: Parameters<Sql["begin"]>): unknown =>
    sql.begin(...given).catch((error: unknown) => {
      failures += 1;
      throw error;
    });
  const counted = new Proxy(sql, {
    get: (target, name): unknown => (name === "begin" ? begin : Reflect.get(target, name)),
  });
  return { sql: counted, failures: () => failures };
}
