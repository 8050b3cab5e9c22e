import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openSql, type Sql } from "#src/postgres.ts";
import type { TestDatabase } from "#src/testing/database.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase } from "./test-service.ts";

/**
 * The proxy to Postgres forwards nothing from the database client after this text, as if the client
 * had stopped permanently.
 */
const LAST_TEXT = "/* the last statement */";
/** The code of the error with which Postgres ends a connection whose transaction takes too long. */
const TRANSACTION_TIMEOUT = "25P04";

let database: TestDatabase;
let way: Server;
let victim: Sql;
const sockets = new Set<Socket>();
/** Resolves when the proxy has forwarded the last data of the client. */
const clientStopped = Promise.withResolvers<void>();
/** What Postgres sends after the proxy has stopped forwarding the client's data. */
let lastAnswers = "";

/**
 * Starts a proxy to Postgres that forwards nothing from the client after `LAST_TEXT`, as if the
 * client received SIGSTOP.
 */
async function openWay(databaseUrl: string): Promise<Server> {
  const { hostname, port } = new URL(databaseUrl);
  const server = createServer((client) => {
    const backend = connect({ host: hostname, port: Number(port) });
    for (const socket of [client, backend]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
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
  server.listen({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  return server;
}

beforeAll(async () => {
  database = await createDatabase(1);
  // The role's transaction timeout is 15 s; the database of this test sets 6 s, to shorten the
  // test.
  const [row] = await database.ownerSql<{ name: string }[]>`select current_database() as name`;
  await database.ownerSql.unsafe(
    `alter role postrider_sample in database ${row?.name} set transaction_timeout = '6s'`,
  );
  way = await openWay(database.url);
  const url = new URL(database.url);
  url.hostname = "127.0.0.1";
  url.port = String((way.address() as AddressInfo).port);
  victim = openSql({ url: url.href, poolSize: 1, applicationName: "victim" });
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  way.close();
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
