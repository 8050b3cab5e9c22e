import { Semaphore } from "#src/limits/semaphore.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";

/**
 * Changes that clients asked for and that use a connection at the same time: half of the default
 * pool, so that the other connections serve everything else, for example publishing.
 */
const LIMITS = { total: 4, perKey: 2, maxWaiting: Infinity, maxWaitMs: 10_000 };

/** Large pages that are read at the same time: of one workspace one after the other. */
const READ_LIMITS = { total: 4, perKey: 1, maxWaiting: Infinity, maxWaitMs: 10_000 };

const changes = turnsByPool(LIMITS);
const reads = turnsByPool(READ_LIMITS);

function turnsByPool(limits: typeof LIMITS): (sql: Sql) => Semaphore {
  const byPool = new WeakMap<Sql, Semaphore>();
  return (sql) => {
    const turns = byPool.get(sql) ?? new Semaphore(limits);
    byPool.set(sql, turns);
    return turns;
  };
}

/**
 * Runs the transaction of a change that a client asked for, when at most one other change of its
 * workspace uses a connection of the pool. Changes of a workspace wait for each other's locks, for
 * example on the same post; many of them at once would occupy the connections that other workspaces
 * need.
 *
 * @throws `unavailable` if its turn does not come for 10 s; nothing was changed.
 */
export async function beginInTurn<T>(
  sql: Sql,
  workspaceId: string,
  work: (tx: TransactionSql) => Promise<T>,
) {
  return await changes(sql).run(() => sql.begin(work), { key: workspaceId });
}

/**
 * Reads a page that may be large when no other one of its workspace is read. Writing, copying and
 * sending a large page takes 20 ms of several processes; several at once of one workspace would
 * make the requests of all others wait for them.
 *
 * @throws `unavailable` if its turn does not come for 10 s.
 */
export async function readInTurn<T>(sql: Sql, workspaceId: string, read: () => Promise<T>) {
  return await reads(sql).run(read, { key: workspaceId });
}
