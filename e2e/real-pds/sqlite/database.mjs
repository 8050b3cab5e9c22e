// The part of better-sqlite3's API that Bluesky's server uses, on top of Node's own SQLite: nothing
// has to be compiled, and better-sqlite3 12.11.1 sometimes crashes the process on Node 24.21 when
// its statements are garbage-collected.
import { DatabaseSync } from "node:sqlite";

/** The SQLite error codes that the PDS handles. */
const CODES = {
  5: "SQLITE_BUSY",
  517: "SQLITE_BUSY_SNAPSHOT",
  1555: "SQLITE_CONSTRAINT_PRIMARYKEY",
  2067: "SQLITE_CONSTRAINT_UNIQUE",
};

function named(work) {
  try {
    return work();
  } catch (error) {
    error.code = CODES[error.errcode] ?? error.code;
    throw error;
  }
}

function toRow(row) {
  const entries = Object.entries(row).map(([name, value]) => [
    name,
    value instanceof Uint8Array
      ? Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      : value,
  ]);
  return Object.fromEntries(entries);
}

class Statement {
  #statement;

  constructor(statement) {
    this.#statement = statement;
    this.reader = statement.columns().length > 0;
  }

  all(parameters) {
    return named(() => this.#statement.all(...parameters).map(toRow));
  }

  run(parameters) {
    return named(() => this.#statement.run(...parameters));
  }

  *iterate(parameters) {
    for (const row of named(() => this.#statement.iterate(...parameters))) yield toRow(row);
  }
}

// The server imports the default export.
// oxlint-disable-next-line import/no-default-export
export default class Database {
  #database;

  constructor(location, { timeout = 5000 } = {}) {
    this.#database = new DatabaseSync(location, { timeout });
  }

  pragma(text) {
    this.#database.exec(`pragma ${text}`);
  }

  prepare(text) {
    return named(() => new Statement(this.#database.prepare(text)));
  }

  close() {
    this.#database.close();
  }
}
