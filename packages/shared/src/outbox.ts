import { create, type DescMessage, type MessageInitShape, toJsonString } from "@bufbuild/protobuf";
import { topicOf } from "#src/bus/topics.ts";
import { unavailable } from "#src/errors.ts";
import { newId } from "#src/ids.ts";
import { lastOutboxId, outboxFloorOf } from "#src/outbox/floor.ts";
import type { ISql, Sql, TransactionSql } from "#src/postgres.ts";
import { type Cause, currentCause } from "#src/telemetry/cause.ts";

/** A larger event is refused: its data stays in its table, and the event refers to it. */
export const MAX_PAYLOAD_BYTES = 64 * 1024;

/** Created by `outboxEvent`. */
export interface OutboxEvent<T extends DescMessage = DescMessage> {
  readonly schema: T;
  readonly message: MessageInitShape<T>;
  /** Id of the aggregate, for example a post. Events with the same key keep their order. */
  readonly key: string;
  /** Default: a new one. A repeated event replaces the earlier one in `parked_events`. */
  readonly id?: string;
  readonly cause?: Cause;
}

/** The message type-checks against the schema. */
export function outboxEvent<T extends DescMessage>(
  schema: T,
  message: MessageInitShape<T>,
  key: string,
): OutboxEvent {
  return { schema, message, key };
}

/** Unchanged if the request is unknown. */
export function causedBy(event: OutboxEvent, cause: Cause | null | undefined): OutboxEvent {
  return cause === null || cause === undefined ? event : { ...event, cause };
}

/** As the statements that append events read it. */
export function toEventRecord(event: OutboxEvent, current: Cause = currentCause()) {
  // An event without a topic would stop the relay.
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
 * SQL that appends events of new aggregates as a part of the statement that inserts them, which
 * saves round trips. For an existing aggregate its row must be locked first, see `appendEvents`.
 *
 * @param source A query whose column `event` has records of `toEventRecord`, or null for a row
 *   without an event, and whose column `addition` has fields to add to the message, or null: what
 *   only the statement knows.
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
 * In the given order, with one statement; published if and only if `tx` commits. Call it after
 * locking the aggregate's row, so that the events of a key are committed in the order of their ids.
 */
export async function appendEvents(
  tx: TransactionSql,
  events: readonly OutboxEvent[],
): Promise<void> {
  if (events.length > 0) await eventInsert(tx, events);
}

/** The size and the age of the events that wait in an outbox. */
export interface OutboxBacklog {
  /** Estimated from the ids: never too low, because ids of rolled-back transactions count. */
  readonly rows: number;
  /** Age of the oldest row; 0 if the outbox is empty. */
  readonly oldestMs: number;
  /** See `lastOutboxId`. */
  readonly lastId: number;
}

/** In constant time. `floor`: no event has an id below it, see `OutboxFloor`. */
export async function readOutboxBacklog(sql: ISql, floor = 0): Promise<OutboxBacklog> {
  const [row] = await sql<[OutboxBacklog]>`
    with oldest as (
      select id, created_at
      from outbox
      where id >= ${floor}
      order by id
      limit 1
    )
    select ${lastOutboxId(sql)} as last_id,
      coalesce((
        select newest.id - oldest.id + 1
        from outbox as newest, oldest
        where newest.id >= ${floor}
        order by newest.id desc
        limit 1
      ), 0) as rows,
      coalesce((
        select greatest(0, extract(epoch from clock_timestamp() - created_at)::float8 * 1000)
        from oldest
      ), 0) as oldest_ms`;
  return row;
}

/** Number of rows from which requests are refused: the bus has been unavailable for too long. */
const MAX_ROWS = 1_000_000;
const CHECK_INTERVAL_MS = 2_000;
/** While it is full, because counting the rows takes long. */
const FULL_INTERVAL_MS = 5_000;

/**
 * Counts the rows only if the distance of their ids says that there may be as many: it also grows
 * while a few old ones wait and all later ones are published.
 */
async function hasRows(sql: Sql, number: number): Promise<boolean> {
  const floor = outboxFloorOf(sql).id;
  if ((await readOutboxBacklog(sql, floor)).rows < number) return false;
  const [row] = await sql<[{ isReached: boolean }]>`
    select count(*) >= ${number} as is_reached
    from (select from outbox where id >= ${floor} limit ${number}) as waiting`;
  return row.isReached;
}

export function createOutboxCapacityCheck(sql: Sql, maxRows = MAX_ROWS): () => Promise<void> {
  let hasRoom = true;
  let checkedAt = Number.NEGATIVE_INFINITY;
  return async () => {
    const intervalMs = hasRoom ? CHECK_INTERVAL_MS : FULL_INTERVAL_MS;
    if (performance.now() - checkedAt > intervalMs) {
      checkedAt = performance.now();
      hasRoom = !(await hasRows(sql, maxRows));
    }
    if (!hasRoom) throw unavailable(undefined, FULL_INTERVAL_MS);
  };
}
