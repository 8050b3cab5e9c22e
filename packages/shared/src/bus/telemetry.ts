import type { BusRecord } from "#src/bus.ts";
import { eventIdOf, eventTypeOf } from "#src/bus/cloud-events.ts";
import { createAgeGauge } from "#src/telemetry/metrics.ts";
import { errorTypeOf, isTracing, openSpan, type Span } from "#src/tracing/tracing.ts";

/** OpenTelemetry's semantic conventions for messaging. */
export interface MessagingPlace {
  readonly system: string;
  readonly topic: string;
}

const KINDS = { send: "producer", process: "consumer" } as const;

function openRecordSpan(
  operation: keyof typeof KINDS,
  record: BusRecord,
  { system, topic }: MessagingPlace,
): Span {
  return openSpan(`${operation} ${topic}`, {
    kind: KINDS[operation],
    parent: record.headers.traceparent,
    attributes: {
      "messaging.system": system,
      "messaging.destination.name": topic,
      "messaging.operation.name": operation,
      "messaging.operation.type": operation,
      "messaging.message.id": eventIdOf(record),
      "postrider.event.type": eventTypeOf(record),
    },
  });
}

/** Records belong to different traces; `work` receives them with references to their spans. */
export async function inRecordSpans<T>(
  operation: keyof typeof KINDS,
  records: readonly BusRecord[],
  place: MessagingPlace,
  work: (records: readonly BusRecord[]) => Promise<T>,
): Promise<T> {
  if (!isTracing()) return await work(records);
  const spans = records.map((record) => openRecordSpan(operation, record, place));
  const named = records.map((record, index): BusRecord => {
    const traceparent = spans[index]?.traceparent;
    if (traceparent === undefined) return record;
    return { ...record, headers: { ...record.headers, traceparent } };
  });
  try {
    return await work(named);
  } catch (error) {
    for (const span of spans) span.fail(errorTypeOf(error));
    throw error;
  } finally {
    for (const span of spans) span.end();
  }
}

const lag = createAgeGauge("consumer_lag_seconds", "Age of the oldest event not yet handled.", [
  "topic",
  "group",
  "partition",
]);

interface LagPlace {
  readonly topic: string;
  readonly group: string;
  readonly partition: number;
}

/** The age of the record that is processed now; without a time all are processed. */
export function reportLag(place: LagPlace, oldestAt: Date | undefined): void {
  const { topic, group, partition } = place;
  lag.set({ topic, group, partition: String(partition) }, oldestAt);
}

/** Removes the lag of partitions that are now assigned to another consumer. */
export function keepLag(topic: string, group: string, partitions: readonly number[]): void {
  const kept = new Set(partitions.map(String));
  lag.forget((of) => of.topic === topic && of.group === group && !kept.has(of.partition));
}
