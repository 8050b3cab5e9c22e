import type { Bus } from "#src/bus.ts";
import type { ISql, Sql, TransactionSql } from "#src/postgres.ts";
import { failpoint } from "#src/process/failpoints.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { publishRows, type OutboxRow, type PublishFailure } from "./publish-rows.ts";

export interface PassOptions {
  readonly sql: Sql;
  readonly bus: Bus;
  /** Name of the service that owns the outbox. */
  readonly service: string;
  readonly logger: Logger;
  /** Returns the topic of an event type. */
  readonly topicOf: (type: string) => string;
  /**
   * Maximum time that the outbox relay waits for the event bus in one transaction; then it commits what the bus has
   * stored. It is well below the role's `idle_in_transaction_session_timeout`. Default: 5 s.
   */
  readonly publishTimeoutMs?: number;
}

/** What earlier passes of the outbox relay leave to the next pass. A pass is one transaction. */
export interface PassInput {
  /** The floor of the outbox: no event with a smaller id can be in it; see `OutboxFloor`. */
  readonly floor: number;
  /** Maximum number of events in the first request that the pass sends to the event bus. */
  readonly requestRows: number;
  /**
   * Events that the event bus has stored, although the outbox relay's transaction that sent them ended before the bus
   * answered.
   */
  readonly stored: readonly OutboxRow[];
}

/**
 * What the outbox relay did in one transaction: nothing, because another relay holds the lock, or it published and
 * deleted rows.
 */
export type PassResult =
  | "busy"
  | {
      /** Rows that this pass deleted from the outbox: it published them, or parked them because the broker refused them. */
      readonly rows: readonly OutboxRow[];
      readonly isFull: boolean;
      readonly requestRows: number;
      readonly failure?: PublishFailure;
    };

const MAX_ROWS = 500;
/**
 * Maximum size in bytes of the events that the outbox relay publishes in one transaction, so that it stays within its
 * deadline. The next transaction publishes the rest.
 */
const MAX_BYTES = 4 * 1024 * 1024;
const PUBLISH_TIMEOUT_MS = 5_000;

/**
 * Publishes the next events of the outbox in one transaction: lock, read in the order of ids, publish, delete, commit.
 * A crash before the commit repeats events but never loses them. There is no cursor: ids of the outbox are not in
 * commit order, and `id > last` would skip the rows of slow transactions.
 */
export async function runPass(options: PassOptions, input: PassInput): Promise<PassResult> {
  return await options.sql.begin(async (tx): Promise<PassResult> => {
    if (!(await tryLock(tx))) return "busy";
    failpoint("relay.locked");
    await deleteRows(tx, input.stored);
    const found = await nextRows(tx, input.floor);
    const rows = withinBytes(found);
    const { requestRows } = input;
    if (rows.length === 0) return { rows: input.stored, isFull: false, requestRows };
    const { publishTimeoutMs = PUBLISH_TIMEOUT_MS } = options;
    const { done, ...result } = await publishRows(tx, rows, {
      ...options,
      publishTimeoutMs,
      requestRows,
    });
    failpoint("relay.published");
    await deleteRows(tx, done);
    const isFull = found.length === MAX_ROWS || rows.length < found.length;
    return { rows: [...input.stored, ...done], isFull, ...result };
  });
}

/**
 * Locks the outbox for one outbox relay, so that the events of a key stay in order. The lock ends with the transaction,
 * or when the role's `idle_in_transaction_session_timeout` of 10 s ends the transaction of a stopped process. A session
 * lock would stay for hours.
 */
async function tryLock(tx: TransactionSql): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtext('postrider.relay'), hashtext(current_schema())) as locked`;
  return row?.locked === true;
}

/**
 * Prevents the outbox relays from publishing until `tx` ends. It is for urgent work that appends many events in short
 * transactions, which would be slowed down if consumers processed the first of these events already.
 */
export async function holdRelays(tx: TransactionSql): Promise<void> {
  await tx`
    select pg_try_advisory_xact_lock_shared(hashtext('postrider.relay'), hashtext(current_schema()))`;
}

/**
 * Returns the statement that reads the next events of the outbox.
 *
 * @param floor No event in the outbox has a smaller id; see `OutboxFloor`.
 */
export function nextRows(sql: ISql, floor: number) {
  return sql<OutboxRow[]>`
    select id, event_id, type, key, payload, headers, created_at
    from outbox
    where id >= ${floor}
    order by id
    limit ${MAX_ROWS}`;
}

/** Returns the first rows of the outbox up to `MAX_BYTES` in total, at least one row. */
function withinBytes(rows: readonly OutboxRow[]): readonly OutboxRow[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += row.payload.length;
    return index > 0 && bytes > MAX_BYTES;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/**
 * Deletes published rows of the outbox. Their event ids are compared too, because a database that was restored from a
 * backup may have assigned a row id again to an event that is not published yet.
 */
async function deleteRows(tx: TransactionSql, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    delete from outbox
    where id = any(${toArrayLiteral(rows.map(({ id }) => id))}::bigint[])
    and event_id = any(${toArrayLiteral(rows.map(({ eventId }) => eventId))}::uuid[])`;
}

function toArrayLiteral(values: readonly (number | string)[]): string {
  return `{${values.join(",")}}`;
}
