import { afterAll, expect, test } from "vitest";
import { openSql } from "#src/postgres.ts";
import { eventually } from "#src/testing/poll.ts";
import { openProxy } from "./tcp-proxy.ts";
import { createDatabase } from "./test-service.ts";

/**
 * The proxy to Postgres forwards nothing from the database client after this text, as if the client
 * had stopped permanently.
 */
const LAST_TEXT = "/* the last statement */";
/** The code of the error with which Postgres ends a connection whose transaction takes too long. */
const TRANSACTION_TIMEOUT = "25P04";

/** Resolves when the proxy has forwarded the last data of the client. */
const clientStopped = Promise.withResolvers<void>();
/** What Postgres sends after the proxy has stopped forwarding the client's data. */
let lastAnswers = "";

const database = await createDatabase(1);
// The role's transaction timeout is 15 s; the database of this test sets 6 s, to shorten the
// test.
const [row] = await database.ownerSql<{ name: string }[]>`select current_database() as name`;
await database.ownerSql.unsafe(
  `alter role postrider_sample in database ${row?.name} set transaction_timeout = '6s'`,
);
const proxy = await openProxy(database.url, (client, backend) => {
  backend.pipe(client);
  backend.on("data", (bytes) => {
    if (client.isPaused()) lastAnswers += bytes.toString("latin1");
  });
  client.on("data", (bytes) => {
    backend.write(bytes);
    if (!bytes.includes(LAST_TEXT)) return;
    client.pause();
    clientStopped.resolve();
  });
});
const victim = openSql({ url: proxy.url, poolSize: 1, applicationName: "victim" });

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await victim.end({ timeout: 1 });
  await database[Symbol.asyncDispose]();
});

test("a database client that stops between parsing and binding a statement loses its locks when its transaction times out", async () => {
  const { sql, ownerSql } = database;
  await sql`insert into effects (group_name, key, value) values ('stopped', 'k', 'v')`;
  const stopped = victim
    .begin(async (tx) => {
      await tx`update effects set value = 'w' where group_name = 'stopped'`;
      await tx`select count(*) ${tx.unsafe(LAST_TEXT)} from effects where key = ${"k"}`;
    })
    .catch(() => {});
  await clientStopped.promise;
  // This statement runs as the owner, whose statements have no timeout while they wait for the
  // lock.
  await ownerSql`update sample.effects set value = 'x' where group_name = 'stopped'`;
  expect(await sql`select value from effects where group_name = 'stopped'`).toEqual([
    { value: "x" },
  ]);
  // Postgres treats the stopped client neither as idle nor as waiting for a lock. So only the
  // transaction timeout ends its transaction.
  await eventually(() => expect(lastAnswers).toContain(TRANSACTION_TIMEOUT));
  await stopped;
});
