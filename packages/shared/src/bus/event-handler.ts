import { fromJsonString, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { BatchHandler, BusRecord } from "#src/bus.ts";
import { eventIdOf, eventTimeOf } from "#src/bus/cloud-events.ts";
import type { TransactionSql } from "#src/postgres.ts";
import { causeOf, contextOf, sharedCause, type Cause } from "#src/telemetry/cause.ts";
import { runInContext } from "#src/telemetry/request-context.ts";

export interface IncomingEvent<T extends DescMessage> {
  /** The same when the bus delivers the event again. */
  readonly id: string;
  readonly message: MessageShape<T>;
  /** Time of the producer's database, equal at each delivery. Only other producers leave it out. */
  readonly recordedAt: Date | undefined;
  /** The request that caused the event; passed on to everything that the handler does. */
  readonly cause: Cause;
}

/** Created by `handleEvents`. */
export interface EventHandler {
  readonly schema: DescMessage;
  readonly handle: BatchHandler;
}

function toIncoming<T extends DescMessage>(schema: T, record: BusRecord): IncomingEvent<T> {
  // A newer version of the producer may send fields that this build does not know yet, so unknown
  // fields are ignored.
  const message = fromJsonString(schema, record.value, { ignoreUnknownFields: true });
  const recordedAt = eventTimeOf(record);
  return { id: eventIdOf(record), message, recordedAt, cause: causeOf(record.headers) };
}

/**
 * The handler receives up to 200 events in the order of the topic, and must give the same result
 * whatever their order, repetitions and gaps. After a transient error (database or peer
 * unavailable) the batch is retried; after any other it is halved until the failing event is alone.
 * Events of one request are handled in its context.
 */
export function handleEvents<T extends DescMessage>(
  schema: T,
  work: (tx: TransactionSql, events: readonly IncomingEvent<T>[]) => Promise<void>,
): EventHandler {
  return {
    schema,
    handle: (tx, records) =>
      runInContext(contextOf(sharedCause(records.map(({ headers }) => headers))), async () => {
        await work(
          tx,
          records.map((record) => toIncoming(schema, record)),
        );
      }),
  };
}
