import type { ISql, Sql } from "#src/postgres.ts";

/** For fewer ids, the query of the database's locks costs more than a higher floor saves. */
const MIN_IDS = 1_000;
/** Events below the floor appear when the database was replaced by an older copy. */
const VERIFY_MS = 30_000;

/**
 * The smallest id that an event in the outbox can have. Queries start there, because while a long
 * snapshot (a backup, a query on a standby) keeps deleted rows, a query from the beginning reads
 * every one of them.
 *
 * Transactions do not commit in the order of their ids, so the floor only passes an id when every
 * transaction that could have assigned it or a smaller one has ended. Such a transaction holds a
 * lock on the table from before it takes an id until its rows are visible.
 */
export class OutboxFloor {
  #id = 0;
  #candidate: { readonly lastId: number; readonly writers: ReadonlySet<string> } | undefined;
  #verifiedAt = performance.now();

  /** No event that is in the outbox or will be added has a smaller id. */
  get id(): number {
    return this.#id;
  }

  /** Called after an error that may mean that the connection now leads to another database. */
  reset(): void {
    this.#id = 0;
    this.#candidate = undefined;
  }

  /** First notes the transactions that are writing; a later call moves once all have ended. */
  async advance(sql: ISql, lastId: number): Promise<void> {
    if (lastId + 1 < this.#id) this.reset();
    if (performance.now() - this.#verifiedAt >= VERIFY_MS) await this.verify(sql);
    const candidate = this.#candidate;
    if (candidate === undefined && lastId - this.#id < MIN_IDS) return;
    const writers = await listWriters(sql);
    if (candidate === undefined)
      // Read after the last id, so a transaction that took it or a smaller one is among them or has
      // ended.
      this.#candidate = { lastId, writers };
    else if (candidate.writers.isDisjointFrom(writers)) {
      this.#candidate = undefined;
      const firstId = await findFirstId(sql, this.#id);
      this.#id = Math.min(firstId ?? Number.POSITIVE_INFINITY, candidate.lastId + 1);
    }
  }

  /** Lowers the floor to the first event if that is below it. */
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

export function outboxFloorOf(sql: Sql): OutboxFloor {
  const floor = floors.get(sql) ?? new OutboxFloor();
  floors.set(sql, floor);
  return floor;
}

/** The last id that was assigned, whether its transaction has ended or not; 0 before the first. */
export function lastOutboxId(sql: ISql) {
  return sql`coalesce(pg_sequence_last_value(pg_get_serial_sequence('outbox', 'id')), 0)`;
}

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
