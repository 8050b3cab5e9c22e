import type { BusRecord } from "#src/bus.ts";

/** An event as the outbox or `parked_events` holds it. */
export interface StoredEvent {
  readonly eventId: string;
  readonly type: string;
  readonly key: string;
  readonly payload: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * An event of the outbox as a record with the headers of CloudEvents 1.0 (Kafka protocol binding, binary mode). Headers
 * of the row, such as `requestid` and `traceparent`, go along.
 *
 * @param source Which service speaks, for example `/postrider/posts`.
 */
export function toRecord(event: StoredEvent, source: string, time: Date): BusRecord {
  return {
    key: event.key,
    value: event.payload,
    headers: {
      ...event.headers,
      ce_specversion: "1.0",
      ce_id: event.eventId,
      ce_type: event.type,
      ce_source: source,
      ce_time: time.toISOString(),
      "content-type": "application/json",
    },
  };
}

/** The event's own id; a record that somebody else sent without one has to do with its key. */
export function eventIdOf(record: BusRecord): string {
  return record.headers.ce_id ?? `without-id:${record.key}`;
}

/** Full name of the event's message, empty when the record names none. */
export function eventTypeOf(record: BusRecord): string {
  return record.headers.ce_type ?? "";
}

/** How long ago the event was made, by this process's clock; infinite when the record does not say. */
export function eventAgeMs(record: BusRecord, now: number): number {
  const at = Date.parse(record.headers.ce_time ?? "");
  return Number.isNaN(at) ? Number.POSITIVE_INFINITY : now - at;
}
