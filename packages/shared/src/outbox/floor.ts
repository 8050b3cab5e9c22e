import type { ISql, Sql } from "#src/postgres.ts";

/** Number of ids behind the floor from which moving it is worth a look at the locks of the database. */
const MIN_IDS = 1_000;
/** Interval at which the ids below the floor are checked, in case the database was replaced by an older copy. */
const VERIFY_MS = 30_000;

/**
 * The smallest id that an event in the outbox can have. Queries start there, because while a long snapshot (a backup, a
 * query on a standby) keeps deleted rows from being removed, a query from the beginning reads every one of them.
 *
 * Ids are not committed in their order, so an id that was seen says nothing about smaller ids. The floor therefore only
 * passes an id when every transaction that could have assigned it or a smaller one has ended. Such a transaction holds
 * a lock on the table from before it takes an id until its rows are visible.
 */
export class OutboxFloor {
  #id = 0;
  #candidate: { readonly lastId: number; readonly writers: ReadonlySet<string> } | undefined;
  #verifiedAt = performance.now();

  /** No visible or future event has a smaller id. */
  get id(): number {
    return this.#id;
  }

  /** Starts at the beginning again, after an error that may mean another database. */
  reset(): void {
    this.#id = 0;
    this.#candidate = undefined;
  }

  /** Moves the floor if it can be moved. Takes two calls, between which the writers of the first one have ended. */
  async advance(sql: ISql): Promise<void> {
    const lastId = await readLastId(sql);
    if (lastId + 1 < this.#id) this.reset();
    if (performance.now() - this.#verifiedAt >= VERIFY_MS) await this.verify(sql);
    const candidate = this.#candidate;
    if (candidate === undefined && lastId - this.#id < MIN_IDS) return;
    const writers = await listWriters(sql);
    if (candidate === undefined) {
      // Read after the last id: a transaction that took this id or a smaller one is among the writers, or has ended.
      this.#candidate = { lastId, writers };
    } else if (candidate.writers.isDisjointFrom(writers)) {
      this.#candidate = undefined;
      const firstId = await findFirstId(sql, this.#id);
      this.#id = Math.min(firstId ?? Number.POSITIVE_INFINITY, candidate.lastId + 1);
    }
  }

  /** Lowers the floor to the first event of the outbox if there is one below the floor. */
  async verify(sql: ISql): Promise<void> {
    this.#verifiedAt = performance.now();
    const firstId = await findFirstId(sql, 0);
    if (firstId !== undefined && firstId < this.#id) {
      this.reset();
      this.#id = firstId;
    }
  }
}

const floors = new WeakMap<Sql, OutboxFloor>();

/** Returns the floor of the outbox of a connection pool. All users of the pool share it; the outbox relay moves it. */
export function outboxFloorOf(sql: Sql): OutboxFloor {
  const floor = floors.get(sql) ?? new OutboxFloor();
  floors.set(sql, floor);
  return floor;
}

/** Returns the last id that a transaction has taken, whether it has ended or not; 0 before the first. */
async function readLastId(sql: ISql): Promise<number> {
  const [row] = await sql<{ lastId: number | null }[]>`
    select pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')) as last_id`;
  return row?.lastId ?? 0;
}

/** Returns the transactions that have written to the outbox and have not ended. */
async function listWriters(sql: ISql): Promise<ReadonlySet<string>> {
  const rows = await sql<{ writer: string }[]>`
    select virtualtransaction as writer
    from pg_locks
    where locktype = 'relation'
    and database = (select oid from pg_database where datname = current_database())
    and relation = 'outbox'::regclass
    and mode = 'RowExclusiveLock'
    and granted`;
  return new Set(rows.map(({ writer }) => writer));
}

async function findFirstId(sql: ISql, floor: number): Promise<number | undefined> {
  const [row] = await sql<{ id: number }[]>`
    select id
    from outbox
    where id >= ${floor}
    order by id
    limit 1`;
  return row?.id;
}
