import { afterAll, expect, test } from "vitest";
import { isInfrastructureError, openSql, type TransactionSql } from "#src/postgres.ts";
import { eventually } from "#src/testing/poll.ts";
import { createDatabase } from "./test-service.ts";

const database = await createDatabase(1);
const victim = openSql({ url: database.url, poolSize: 1, applicationName: "victim" });

afterAll(async () => {
  await victim.end({ timeout: 1 });
  await database[Symbol.asyncDispose]();
});

const insert = (tx: TransactionSql, key: string) =>
  tx`insert into effects (group_name, key, value) values ('loss', ${key}, '')`;

const readKeys = async (): Promise<readonly string[]> =>
  (await database.ownerSql<{ key: string }[]>`select key from sample.effects order by id`).map(
    ({ key }) => key,
  );

async function breakConnection(): Promise<void> {
  await database.ownerSql`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database() and application_name = 'victim'`;
}

test("a transaction that loses its connection runs none of its remaining statements on the next connection", async () => {
  const isInserted = Promise.withResolvers<void>();
  const isReconnected = Promise.withResolvers<void>();
  const restErrors: unknown[] = [];
  const isRestDone = Promise.withResolvers<void>();
  const work = victim.begin(async (tx) => {
    await insert(tx, "before");
    isInserted.resolve();
    await isReconnected.promise;
    for (const rest of [
      () => insert(tx, "after"),
      () => tx.savepoint((sp) => insert(sp, "nested")),
    ])
      await rest().catch((error: unknown) => restErrors.push(error));

    isRestDone.resolve();
  });
  const failure = work.catch((error: unknown) => error);
  await Promise.race([isInserted.promise, work]);
  await breakConnection();
  expect(isInfrastructureError(await failure)).toBe(true);
  expect(await victim`select 1 as one`).toEqual([{ one: 1 }]);
  isReconnected.resolve();
  await isRestDone.promise;
  expect(restErrors).toHaveLength(2);
  expect(restErrors.every(isInfrastructureError)).toBe(true);
  expect(await readKeys()).toEqual([]);
});

test("statements on a lost connection fail as infrastructure errors, and the connection pool recovers", async () => {
  for (let round = 0; round < 30; round += 1) {
    const isInserted = Promise.withResolvers<void>();
    const isBroken = Promise.withResolvers<void>();
    const work = victim.begin(async (tx) => {
      await insert(tx, "round");
      isInserted.resolve();
      await isBroken.promise;
      // These statements follow each other without a pause. So the driver notices the lost
      // connection before, during or after sending one of them.
      for (let index = 0; index < 10; index += 1) await insert(tx, "rest");
    });
    const failure = work.catch((error: unknown) => error);
    await Promise.race([isInserted.promise, work]);
    await breakConnection();
    if (round % 3 > 0) await new Promise((resolve) => setImmediate(resolve));
    isBroken.resolve();
    expect(isInfrastructureError(await failure)).toBe(true);
    expect(await victim`select 1 as one`).toEqual([{ one: 1 }]);
  }
  expect(await readKeys()).toEqual([]);
});

test("a statement that fails after its first rows leaves nothing behind for the next one of its connection", async () => {
  const failure: unknown = await victim`
    select 6 / (3 - value) as answer from generate_series(1, 3) as value`.catch(
    (error: unknown) => error,
  );
  expect(failure).toMatchObject({ message: "division by zero" });
  expect([...(await victim`select 1 as one`)]).toStrictEqual([{ one: 1 }]);
});

test("a connection that is lost after the first rows of an answer leaves nothing behind for the next one", async () => {
  // The rows do not fit into the buffer of the server, so the first ones arrive.
  const reading = victim`
    select repeat('x', 10000) as text, pg_sleep(value / 100.0) from generate_series(1, 1000) as value`;
  const failure = reading.catch((error: unknown) => error);
  await eventually(async () => {
    const [row] = await database.ownerSql<{ state: string }[]>`
      select wait_event as state from pg_stat_activity
      where datname = current_database() and application_name = 'victim' and state = 'active'`;
    expect(row?.state).toBe("PgSleep");
  });
  await breakConnection();
  expect(isInfrastructureError(await failure)).toBe(true);
  expect([...(await victim`select 1 as one`)]).toStrictEqual([{ one: 1 }]);
});
