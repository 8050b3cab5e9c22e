import { DatabaseSync } from "node:sqlite";

/** Result code of SQLite when another connection has locked the database. */
const SQLITE_BUSY = 5;

/**
 * Locks a file for this process until the lock is disposed of or the process ends in any way. Node itself offers no lock of
 * the operating system, but its SQLite does, on Linux and macOS alike. Unlike a file that names its owner, such a lock is
 * never left behind by a killed process, so no process ever has to decide whether it may remove one.
 *
 * @param path A file that only locks use. It is created if it is missing, and stays empty.
 * @returns The lock; undefined if another process, or this one, has locked the file.
 */
export function tryLockFile(path: string): Disposable | undefined {
  const database = new DatabaseSync(path, { timeout: 0 });
  try {
    // SQLite gives the lock for writing to exactly one of several connections. With `begin exclusive` all of them could
    // fail, because each connection needs the others to stop reading for a moment.
    database.exec("pragma journal_mode = memory; begin immediate");
    return { [Symbol.dispose]: () => database.close() };
  } catch (error) {
    database.close();
    if (error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY) {
      return undefined;
    }
    throw error;
  }
}
