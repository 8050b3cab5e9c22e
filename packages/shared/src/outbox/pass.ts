import { RefusedRecordsError, type Bus } from "#src/bus.ts";
import { toRecord, type StoredEvent } from "#src/bus/cloud-events.ts";
import { workHalving } from "#src/bus/halving.ts";
import { parkEvent } from "#src/bus/parking.ts";
import { inRecordSpans } from "#src/bus/spans.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import { failpoint } from "#src/process/failpoints.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface PassOptions {
  readonly sql: Sql;
  readonly bus: Bus;
  readonly topic: string;
  readonly source: string;
  readonly logger: Logger;
  /**
   * Maximum time that the outbox relay waits for the event bus in one transaction, well below the role's
   * `idle_in_transaction_session_timeout`. Default: 5 s.
   */
  readonly publishTimeoutMs?: number;
}

interface OutboxRow extends StoredEvent {
  readonly id: number;
  readonly createdAt: Date;
}

/**
 * What the outbox relay did in one transaction: nothing, because another relay holds the lock, or it published and
 * deleted rows.
 */
export type PassResult = "busy" | { readonly rows: number; readonly isFull: boolean };

const MAX_ROWS = 500;
/**
 * Maximum size in bytes of the events that the outbox relay publishes in one transaction, so that it stays within its
 * deadline.
 */
const MAX_BYTES = 4 * 1024 * 1024;
const PUBLISH_TIMEOUT_MS = 5_000;

/**
 * Publishes the next events of the outbox in one transaction: lock, read in the order of ids, publish, delete, commit.
 * A crash before the commit repeats events but never loses them. There is no cursor: ids of the outbox are not in
 * commit order, and `id > last` would skip the rows of slow transactions.
 */
export async function runPass(options: PassOptions): Promise<PassResult> {
  return await options.sql.begin(async (tx): Promise<PassResult> => {
    if (!(await tryLock(tx))) return "busy";
    failpoint("relay.locked");
    const found = await readRows(tx);
    const rows = withinBytes(found);
    if (rows.length === 0) return { rows: 0, isFull: false };
    await publishRows(tx, options, rows);
    failpoint("relay.published");
    await tx`delete from outbox where id = any(${toArrayLiteral(rows.map((row) => row.id))}::bigint[])`;
    return { rows: rows.length, isFull: found.length === MAX_ROWS || rows.length < found.length };
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
 * Prevents the outbox relays from publishing until `tx` ends. Use it for urgent work that appends many events in short
 * transactions. Without it, processing the first events would slow down the rest of that work.
 */
export async function holdRelays(tx: TransactionSql): Promise<void> {
  await tx`
    select pg_try_advisory_xact_lock_shared(hashtext('postrider.relay'), hashtext(current_schema()))`;
}

async function readRows(tx: TransactionSql): Promise<readonly OutboxRow[]> {
  return await tx<OutboxRow[]>`
    select id, event_id, type, key, payload, headers, created_at
    from outbox
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

function toArrayLiteral(ids: readonly number[]): string {
  return `{${ids.join(",")}}`;
}

async function publishRows(
  tx: TransactionSql,
  { bus, topic, source, logger, publishTimeoutMs = PUBLISH_TIMEOUT_MS }: PassOptions,
  rows: readonly OutboxRow[],
): Promise<void> {
  const deadlineAt = performance.now() + publishTimeoutMs;
  const refused = await workHalving(
    tx,
    rows,
    async (savepoint, part) => {
      const records = part.map((row) => toRecord(row, source, row.createdAt));
      await inRecordSpans("send", records, { system: bus.system, topic }, (sent) =>
        withDeadline(bus.publish(savepoint, topic, sent), deadlineAt - performance.now()),
      );
    },
    (error) => error instanceof RefusedRecordsError,
  );
  for (const { item, error } of refused) {
    await parkEvent(tx, { direction: "out", topic, event: item, error, tries: 1 });
    logger.error(
      { err: error, topic, eventType: item.type, eventId: item.eventId },
      "the broker refused an event permanently; the event was parked",
    );
  }
}

async function withDeadline(work: Promise<void>, timeoutMs: number): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const expire = (): void => reject(new Error("the bus did not accept the events in time"));
  const timer = setTimeout(expire, Math.max(0, timeoutMs));
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
