import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isInfrastructureError, openSql, type Sql } from "#src/postgres.ts";
import type { TestDatabase } from "#src/testing/database.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase } from "./test-service.ts";

const ANSWER_TIMEOUT_MS = 200;

let database: TestDatabase;
let way: Server;
let victim: Sql;
const sockets = new Set<Socket>();
/** Connections that exist already get no more bytes, as after a network was cut. */
let silence = (): void => {};

/** A proxy to Postgres, whose open connections can become silent without being closed. */
async function openWay(databaseUrl: string): Promise<Server> {
  const { hostname, port } = new URL(databaseUrl);
  const server = createServer((client) => {
    const backend = connect({ host: hostname, port: Number(port) });
    for (const socket of [client, backend]) {
      sockets.add(socket);
      socket.on("error", () => socket.destroy());
    }
    backend.pipe(client);
    client.pipe(backend);
    const before = silence;
    silence = () => {
      before();
      backend.unpipe(client);
      client.unpipe(backend);
    };
  });
  server.listen({ host: "127.0.0.1", port: 0 });
  await once(server, "listening");
  return server;
}

beforeAll(async () => {
  database = await createDatabase(1);
  way = await openWay(database.url);
  const url = new URL(database.url);
  url.hostname = "127.0.0.1";
  url.port = String((way.address() as AddressInfo).port);
  victim = openSql({
    url: url.href,
    poolSize: 2,
    applicationName: "victim",
    answerTimeoutMs: ANSWER_TIMEOUT_MS,
  });
});

afterAll(async () => {
  for (const socket of sockets) socket.destroy();
  way.close();
  await victim.end({ timeout: 1 });
  await database[Symbol.asyncDispose]();
});

test("statements on connections that became silent without being closed fail as infrastructure errors, and later ones use new connections", async () => {
  await Promise.all([victim`select pg_sleep(0.05)`, victim`select pg_sleep(0.05)`]);
  silence();
  const inTransaction = victim.begin((tx) => tx`select 1`);
  const outcomes = await Promise.allSettled([victim`select 1`, victim`select 1`, inTransaction]);
  expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(
    outcomes.every((each) => each.status === "rejected" && isInfrastructureError(each.reason)),
  ).toBe(true);
  // A statement in the moment between the error of a connection and its end fails with it.
  await eventually(async () => expect(await victim`select 1 as one`).toEqual([{ one: 1 }]));
});

test("an idle connection, and one of a transaction that waits for the process, is not given up", async () => {
  const pidOf = async (sql: Pick<Sql, "unsafe">): Promise<number> =>
    ((await sql.unsafe("select pg_backend_pid() as pid")) as { pid: number }[])[0]?.pid ?? 0;
  const pids = await victim.begin(async (tx) => {
    const before = await pidOf(tx);
    // The database keeps time, so that the process is idle meanwhile.
    await database.ownerSql`select pg_sleep(${(4 * ANSWER_TIMEOUT_MS) / 1000})`;
    return [before, await pidOf(tx)];
  });
  expect(pids[1]).toBe(pids[0]);
});
