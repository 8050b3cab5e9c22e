import type { StoredEvent } from "#src/bus/cloud-events.ts";
import { newId } from "#src/ids.ts";
import type { Sql, TransactionSql } from "#src/postgres.ts";
import { startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import { createCounter, createGauge } from "#src/telemetry/metrics.ts";

/** `in`: a handler failed to process the event. `out`: the broker refused it permanently. */
export type ParkedDirection = "in" | "out";

export interface ParkedEntry {
  readonly direction: ParkedDirection;
  readonly topic: string;
  readonly event: StoredEvent;
  readonly error: unknown;
  readonly tries: number;
}

const MAX_ERROR_LENGTH = 500;

const parkedTotal = createCounter("events_parked_total", "Events parked for an operator.", [
  "topic",
  "direction",
]);

/** Without the parts in which a database error quotes stored values. */
export function describeError(error: unknown): string {
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return text.slice(0, MAX_ERROR_LENGTH);
}

/** If the event is there already, only its error is replaced. */
export async function parkEvent(tx: TransactionSql, entry: ParkedEntry): Promise<void> {
  const { direction, topic, event, tries } = entry;
  await tx`
    insert into parked_events
      (id, direction, topic, event_id, type, key, payload, headers, error, attempt_count)
    values (
      ${newId()}, ${direction}, ${topic}, ${event.eventId}, ${event.type}, ${event.key},
      ${event.payload}, ${tx.json(event.headers)}, ${describeError(entry.error)}, ${tries}
    )
    on conflict (direction, topic, event_id) do update
    set error = excluded.error,
      attempt_count = parked_events.attempt_count + excluded.attempt_count`;
  parkedTotal.inc({ topic, direction });
}

const COUNT_MS = 30_000;

const parkedGauge = createGauge("parked_events", "Parked events that wait for an operator.", [
  "topic",
]);

/** 0 when every event could be processed. */
export function watchParkedEvents(sql: Sql, topic: string, logger: Logger): AsyncDisposable {
  return startLoop({
    idleMs: COUNT_MS,
    onError: (error) =>
      logger.debug(
        { err: error, topic },
        "the parked events could not be counted; the metric parked_events keeps its last value",
      ),
    work: async () => {
      const [row] = await sql<{ count: number }[]>`
        select count(*) as count
        from parked_events
        where topic = ${topic}`;
      parkedGauge.set({ topic }, row?.count ?? 0);
      return COUNT_MS;
    },
  });
}
