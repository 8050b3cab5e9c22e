import { create, toJsonString, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { newId } from "#src/ids.ts";
import type { ISql, TransactionSql } from "#src/postgres.ts";
import { currentCause, type Cause } from "#src/telemetry/cause.ts";

/** The largest body of an event; a bigger one should be a reference to its owner's table. */
export const MAX_PAYLOAD_BYTES = 64 * 1024;

/** An event that is ready to be appended; made by `outboxEvent`. */
export interface OutboxEvent<T extends DescMessage = DescMessage> {
  readonly schema: T;
  readonly message: MessageInitShape<T>;
  /** Id of the aggregate: its events keep their order. */
  readonly key: string;
  /** Who asked for what it tells. Default: the current request. */
  readonly cause?: Cause;
}

/** Builds one event with its message checked against the schema. */
export function outboxEvent<T extends DescMessage>(
  schema: T,
  message: MessageInitShape<T>,
  key: string,
): OutboxEvent {
  return { schema, message, key };
}

/** The event as the consequence of that request rather than of the current one; unchanged where it is not known. */
export function causedBy(event: OutboxEvent, cause: Cause | null | undefined): OutboxEvent {
  return cause === null || cause === undefined ? event : { ...event, cause };
}

function toRow(event: OutboxEvent, current: Cause) {
  const payload = toJsonString(event.schema, create(event.schema, event.message));
  const bytes = Buffer.byteLength(payload);
  if (bytes > MAX_PAYLOAD_BYTES) {
    throw new Error(`${event.schema.typeName} has ${bytes} bytes, at most ${MAX_PAYLOAD_BYTES} go`);
  }
  const { schema, key, cause: headers = current } = event;
  return { event_id: newId(), type: schema.typeName, key, payload, headers };
}

/**
 * The statement that appends events to the service's outbox, in their order. Awaited it runs; inside a larger statement
 * (`with event as (${eventInsert(sql, events)}) …`) it saves the transaction around the two, which costs more than both.
 * That is only for a new aggregate: changing one takes its lock first, see `appendEvents`.
 *
 * @param events At least one.
 */
export function eventInsert(sql: ISql, events: readonly OutboxEvent[]) {
  const current = currentCause();
  const rows = events.map((event) => toRow(event, current));
  return sql`
    insert into outbox (event_id, type, key, payload, headers)
    select event_id, type, key, payload, headers
    from rows from (
      jsonb_to_recordset(${sql.json(rows)})
      as (event_id uuid, type text, key text, payload text, headers jsonb)
    ) with ordinality as event
    order by ordinality`;
}

/**
 * Appends events to the service's outbox, in their order, with one statement. The relay sends them once `tx` has
 * committed, and never if it has not. Call it after the lock on the aggregate's row, so that the events of one key are
 * committed in the order of their ids.
 */
export async function appendEvents(
  tx: TransactionSql,
  events: readonly OutboxEvent[],
): Promise<void> {
  if (events.length > 0) await eventInsert(tx, events);
}

/** Appends one event; see `appendEvents`. */
export async function appendEvent<T extends DescMessage>(
  tx: TransactionSql,
  schema: T,
  message: MessageInitShape<T>,
  key: string,
): Promise<void> {
  await appendEvents(tx, [outboxEvent(schema, message, key)]);
}

/** How much waits in an outbox. */
export interface OutboxBacklog {
  /** Never less than the rows there are; ids that were rolled back make it a little more. */
  readonly rows: number;
  /** Age of the oldest row, 0 when there is none. */
  readonly oldestMs: number;
}

/** Measures the outbox by its first and its last id, in constant time however much waits. */
export async function readOutboxBacklog(sql: ISql): Promise<OutboxBacklog> {
  const [row] = await sql<{ rows: number; oldestMs: number }[]>`
    select
      newest.id - oldest.id + 1 as rows,
      extract(epoch from clock_timestamp() - oldest.created_at)::float8 * 1000 as oldest_ms
    from (select id, created_at from outbox order by id limit 1) as oldest,
      (select id from outbox order by id desc limit 1) as newest`;
  return { rows: row?.rows ?? 0, oldestMs: Math.max(0, row?.oldestMs ?? 0) };
}
