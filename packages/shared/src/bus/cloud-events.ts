import type { BusRecord } from "#src/bus.ts";

export interface StoredEvent {
  readonly eventId: string;
  readonly type: string;
  readonly key: string;
  readonly payload: string;
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * CloudEvents 1.0 (Kafka protocol binding, binary mode). Headers of the row, such as `requestid`,
 * are kept.
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

/** A record of another producer without an id gets one derived from its key. */
export function eventIdOf(record: BusRecord): string {
  return record.headers.ce_id ?? `without-id:${record.key}`;
}

export function eventTypeOf(record: BusRecord): string {
  return record.headers.ce_type ?? "";
}

/** Undefined when the record has no valid time. */
export function eventTimeOf(record: BusRecord): Date | undefined {
  const at = new Date(record.headers.ce_time ?? "");
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** Age of an event by this process's clock; infinite if the event has no time. */
export function eventAgeMs(record: BusRecord, now: number): number {
  const at = eventTimeOf(record);
  return at === undefined ? Number.POSITIVE_INFINITY : now - at.getTime();
}
