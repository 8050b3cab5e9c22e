import type { BusRecord } from "#src/bus.ts";
import { eventIdOf, eventTypeOf } from "#src/bus/cloud-events.ts";
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
