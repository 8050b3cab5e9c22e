import { afterAll, expect, test } from "vitest";
import { isInfrastructureError, openSql, type Sql } from "#src/postgres.ts";
import { eventually } from "#src/testing/poll.ts";
import { openSilenceableProxy } from "./tcp-proxy.ts";
import { createDatabase } from "./test-service.ts";

const ANSWER_TIMEOUT_MS = 200;

const database = await createDatabase(1);
const proxy = await openSilenceableProxy(database.url);
const victim = openSql({
  url: proxy.url,
  poolSize: 2,
  applicationName: "victim",
  answerTimeoutMs: ANSWER_TIMEOUT_MS,
});

afterAll(async () => {
  await proxy[Symbol.asyncDispose]();
  await victim.end({ timeout: 1 });
  await database[Symbol.asyncDispose]();
});

test("statements on connections that became silent without being closed fail as infrastructure errors, and later ones use new connections", async () => {
  await Promise.all([victim`select pg_sleep(0.05)`, victim`select pg_sleep(0.05)`]);
  proxy.silence();
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
