import type { BusRecord } from "#src/bus.ts";

/** An event as it is stored in the tables `outbox` and `parked_events`. */
export interface StoredEvent {
  readonly eventId: string;
  readonly type: string;
  readonly key: string;
  readonly payload: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Converts an event of the outbox to a record with the headers of CloudEvents 1.0 (Kafka protocol binding, binary
 * mode). Headers of the outbox row, such as `requestid` and `traceparent`, are kept.
 *
 * @param source The publishing service, for example `/postrider/posts`.
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

/**
 * Returns the id of the event in a record. If another producer sent the record without an id, the id is derived from
 * the key of the record.
 */
export function eventIdOf(record: BusRecord): string {
  return record.headers.ce_id ?? `without-id:${record.key}`;
}

/** Returns the full name of an event's protobuf message type; empty when the record of the event names no type. */
export function eventTypeOf(record: BusRecord): string {
  return record.headers.ce_type ?? "";
}

/** Returns when the event in a record was recorded; undefined when the record has no valid time. */
export function eventTimeOf(record: BusRecord): Date | undefined {
  const at = new Date(record.headers.ce_time ?? "");
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** Returns the age of an event by this process's clock; infinite when the record of the event has no time. */
export function eventAgeMs(record: BusRecord, now: number): number {
  const at = eventTimeOf(record);
  return at === undefined ? Number.POSITIVE_INFINITY : now - at.getTime();
}
