import { create, toJsonString, type DescMessage, type MessageInitShape } from "@bufbuild/protobuf";
import { topicOf } from "#src/bus/topics.ts";
import { newId } from "#src/ids.ts";
import type { ISql, TransactionSql } from "#src/postgres.ts";
import { currentCause, type Cause } from "#src/telemetry/cause.ts";

/**
 * Maximum size in bytes of the message of an event; a larger event is refused when it is appended. Larger data stays in
 * its database table, and the event refers to it.
 */
export const MAX_PAYLOAD_BYTES = 64 * 1024;

/** An event that can be appended to the outbox, created by `outboxEvent`. */
export interface OutboxEvent<T extends DescMessage = DescMessage> {
  readonly schema: T;
  readonly message: MessageInitShape<T>;
  /**
   * Key of the event: the id of the aggregate, for example a post, that the event is about. Events with the same key
   * keep their order.
   */
  readonly key: string;
  /**
   * Id of the event. Default: a new one. An event that repeats an earlier event keeps the id of the earlier event, so that it
   * replaces that event in `parked_events`.
   */
  readonly id?: string;
  /** The request that caused the event. Default: the current request. */
  readonly cause?: Cause;
}

/** Creates an outbox event whose message type-checks against the schema. */
export function outboxEvent<T extends DescMessage>(
  schema: T,
  message: MessageInitShape<T>,
  key: string,
): OutboxEvent {
  return { schema, message, key };
}

/** Returns the event with another request as its cause; returns it unchanged if that request is unknown. */
export function causedBy(event: OutboxEvent, cause: Cause | null | undefined): OutboxEvent {
  return cause === null || cause === undefined ? event : { ...event, cause };
}

/** Returns an event as the statements that append events read it. */
export function toEventRecord(event: OutboxEvent, current: Cause = currentCause()) {
  // The outbox refuses an event without a topic, because the relay could not publish it and would stop.
  topicOf(event.schema.typeName);
  const payload = toJsonString(event.schema, create(event.schema, event.message));
  const bytes = Buffer.byteLength(payload);
  if (bytes > MAX_PAYLOAD_BYTES)
    throw new Error(
      `an event ${event.schema.typeName} has ${bytes} bytes, more than the maximum of ${MAX_PAYLOAD_BYTES}`,
    );

  const { schema, key, id = newId(), cause: headers = current } = event;
  return { event_id: id, type: schema.typeName, key, payload, headers };
}

function eventInsert(sql: ISql, events: readonly OutboxEvent[]) {
  const current = currentCause();
  const records = events.map((event) => toEventRecord(event, current));
  return sql`
    insert into outbox (event_id, type, key, payload, headers)
    select event_id, type, key, payload, headers
    from rows from (
      jsonb_to_recordset(${sql.json(records)})
      as (event_id uuid, type text, key text, payload text, headers jsonb)
    ) with ordinality as event
    order by ordinality`;
}

/**
 * Returns the SQL that appends events of new aggregates to the service's outbox, as a part of the statement that inserts the
 * aggregates, which saves round trips. For a change of an existing aggregate its row must be locked first, see `appendEvents`.
 *
 * @param source SQL of a query whose column `event` has records of `toEventRecord`, or null for a row without an event. Its column
 *   `addition` has a JSON object, whose fields are added to the message of the event, or null: what only the statement itself knows.
 */
export function eventRecordInsert(sql: ISql, source: ReturnType<ISql>) {
  return sql`
    insert into outbox (event_id, type, key, payload, headers)
    select event.event_id, event.type, event.key,
      coalesce((event.payload::jsonb || source.addition)::text, event.payload), event.headers
    from (${source}) as source, jsonb_to_record(source.event)
      as event (event_id uuid, type text, key text, payload text, headers jsonb)
    where source.event is not null`;
}

/**
 * Appends events to the service's outbox, in the given order, with one statement. The relay publishes them if and only if
 * `tx` commits. Call it after locking the aggregate's row, so that the events of a key are committed in the order of their
 * ids.
 */
export async function appendEvents(
  tx: TransactionSql,
  events: readonly OutboxEvent[],
): Promise<void> {
  if (events.length > 0) await eventInsert(tx, events);
}

/** Appends one event to the service's outbox; see `appendEvents`. */
export async function appendEvent<T extends DescMessage>(
  tx: TransactionSql,
  schema: T,
  message: MessageInitShape<T>,
  key: string,
): Promise<void> {
  await appendEvents(tx, [outboxEvent(schema, message, key)]);
}

/** The size and the age of the events that wait in an outbox. */
export interface OutboxBacklog {
  /**
   * Number of rows in the outbox, estimated from the ids: never too low, because ids of rolled-back transactions count.
   */
  readonly rows: number;
  /** Milliseconds since the oldest row was added to the outbox; 0 when the outbox is empty. */
  readonly oldestMs: number;
}

/**
 * Estimates how many events wait in the outbox from the first and the last id in it, in constant time.
 *
 * @param floor An id below which the outbox contains no event; see `OutboxFloor`. Default: 0.
 */
export async function readOutboxBacklog(sql: ISql, floor = 0): Promise<OutboxBacklog> {
  const [row] = await sql<{ rows: number; oldestMs: number }[]>`
    select
      newest.id - oldest.id + 1 as rows,
      extract(epoch from clock_timestamp() - oldest.created_at)::float8 * 1000 as oldest_ms
    from (select id, created_at from outbox where id >= ${floor} order by id limit 1) as oldest,
      (select id from outbox where id >= ${floor} order by id desc limit 1) as newest`;
  return { rows: row?.rows ?? 0, oldestMs: Math.max(0, row?.oldestMs ?? 0) };
}
