import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ServiceImpl } from "@connectrpc/connect";
import type { ParkedEventService } from "@postrider/contracts/operations/v1/parked_event_service_pb";
import { appendAudit } from "#src/audit/append.ts";
import type { StoredEvent } from "#src/bus/cloud-events.ts";
import type { EventHandler } from "#src/bus/event-handler.ts";
import { describeError, type ParkedDirection } from "#src/bus/parking.ts";
import { isTransientError } from "#src/bus/retries.ts";
import { invalidRequest } from "#src/errors.ts";
import { isId, NIL_ID } from "#src/ids.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";

export interface ParkedEventsOptions {
  readonly sql: Sql;
  /** A redriven event goes to all handlers of its type, because they tolerate repetition. */
  readonly handlers: readonly EventHandler[];
}

interface ParkedRow extends StoredEvent {
  readonly id: string;
  readonly direction: ParkedDirection;
  readonly topic: string;
  readonly error: string;
  readonly attemptCount: number;
  readonly parkedAt: Date;
}

const MAX_LIMIT = 1000;
const REDRIVE_PAGE = 200;

/** Operators list parked events and redrive them, which means to try them again. */
export function createParkedEventService(
  options: ParkedEventsOptions,
): ServiceImpl<typeof ParkedEventService> {
  return {
    async listParkedEvents({ limit }) {
      if (limit < 1 || limit > MAX_LIMIT)
        throw invalidRequest([{ code: "out_of_range", path: "/limit" }]);
      const rows = await listParked(options.sql, limit);
      return { events: rows.map(toParkedEvent) };
    },
    async redriveParkedEvents({ ids }) {
      if (!ids.every(isId)) throw invalidRequest([{ code: "invalid_id", path: "/ids" }]);
      return ids.length > 0 ? await redriveAll(options, ids) : await redriveEverything(options);
    },
  };
}

function toParkedEvent(row: ParkedRow) {
  const { id, eventId, topic, key, error, attemptCount, parkedAt } = row;
  return {
    id,
    eventId,
    eventType: row.type,
    topic,
    key,
    error,
    attemptCount,
    parkedAt: timestampFromDate(parkedAt),
  };
}

async function listParked(sql: Sql, limit: number): Promise<readonly ParkedRow[]> {
  return await sql<ParkedRow[]>`
    select id, direction, topic, event_id, type, key, payload, headers, error, attempt_count, parked_at
    from parked_events
    order by parked_at desc, id desc
    limit ${limit}`;
}

interface RedriveResult {
  readonly redriven: number;
  readonly failed: number;
}

async function redriveEverything(options: ParkedEventsOptions): Promise<RedriveResult> {
  let redriven = 0;
  let failed = 0;
  for (let after: string = NIL_ID; ;) {
    const page: readonly { id: string }[] = await options.sql<{ id: string }[]>`
      select id
      from parked_events
      where id > ${after}
      order by id
      limit ${REDRIVE_PAGE}`;
    const result = await redriveAll(
      options,
      page.map((row) => row.id),
    );
    redriven += result.redriven;
    failed += result.failed;
    const last = page.at(-1);
    if (last === undefined || page.length < REDRIVE_PAGE) return { redriven, failed };
    after = last.id;
  }
}

async function redriveAll(
  options: ParkedEventsOptions,
  ids: readonly string[],
): Promise<RedriveResult> {
  const results = { redriven: 0, failed: 0, gone: 0 };
  for (const id of ids) results[await redrive(options, id)] += 1;
  return { redriven: results.redriven, failed: results.failed };
}

/** In one transaction. A transient error would fail each event, so it ends the redrive of all. */
async function redrive(
  options: ParkedEventsOptions,
  id: string,
): Promise<"redriven" | "failed" | "gone"> {
  return await options.sql.begin(async (tx) => {
    const row = await lockParked(tx, id);
    if (row === undefined) return "gone";
    try {
      await tx.savepoint((savepoint) => deliver(savepoint, options.handlers, row));
    } catch (error) {
      if (isTransientError(error)) throw error;
      await tx`
        update parked_events
        set error = ${describeError(error)}, attempt_count = attempt_count + 1
        where id = ${id}`;
      return "failed";
    }
    await tx`delete from parked_events where id = ${id}`;
    const subject = { type: "event", id: row.eventId } as const;
    const details = { type: row.type, topic: row.topic, direction: row.direction };
    await appendAudit(tx, [{ action: "event.redrive", subject, details }]);
    return "redriven";
  });
}

/** Skips an event that another redrive has locked, so that two redrives share the work. */
async function lockParked(tx: TransactionSql, id: string): Promise<ParkedRow | undefined> {
  const [row] = await tx<ParkedRow[]>`
    select id, direction, topic, event_id, type, key, payload, headers, error, attempt_count, parked_at
    from parked_events
    where id = ${id}
    for update skip locked`;
  return row;
}

async function deliver(
  tx: TransactionSql,
  handlers: readonly EventHandler[],
  row: ParkedRow,
): Promise<void> {
  if (row.direction === "out") {
    await appendAgain(tx, row);
    return;
  }
  const responsible = handlers.filter(({ schema }) => schema.typeName === row.type);
  if (responsible.length === 0) throw new Error("there is no handler for this type of event");
  const headers = { ...row.headers, ce_id: row.eventId };
  for (const handler of responsible)
    await handler.handle(tx, [{ key: row.key, headers, value: row.payload }]);
}

/** The event keeps its id, by which consumers recognise a repetition. */
async function appendAgain(tx: TransactionSql, row: ParkedRow): Promise<void> {
  await tx`
    insert into outbox (event_id, type, key, payload, headers)
    values (${row.eventId}, ${row.type}, ${row.key}, ${row.payload}, ${tx.json(row.headers)})`;
}
