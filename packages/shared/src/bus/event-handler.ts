import { fromJsonString, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { BatchHandler, BusRecord } from "#src/bus.ts";
import { eventIdOf, eventTimeOf } from "#src/bus/cloud-events.ts";
import type { TransactionSql } from "#src/postgres.ts";
import { causeOf, contextOf, sharedCause, type Cause } from "#src/telemetry/cause.ts";
import { runInContext } from "#src/telemetry/request-context.ts";

/** An event of the bus as a handler receives it. */
export interface IncomingEvent<T extends DescMessage> {
  /** The id of the event. It stays the same when the bus delivers the event again. */
  readonly id: string;
  readonly message: MessageShape<T>;
  /**
   * When the producer recorded the event, by the clock of its database. It stays the same when the bus delivers the
   * event again. Undefined for an event without a time: Postrider's services send none, but another producer may.
   */
  readonly recordedAt: Date | undefined;
  /**
   * The request that caused the event. The handler passes this cause on to everything that it does because of the
   * event.
   */
  readonly cause: Cause;
}

/** The handler of one type of event, created by `handleEvents`. */
export interface EventHandler {
  readonly schema: DescMessage;
  readonly handle: BatchHandler;
}

function toIncoming<T extends DescMessage>(schema: T, record: BusRecord): IncomingEvent<T> {
  // A newer version of the producer may send fields that this build does not know yet, so unknown fields are ignored.
  const message = fromJsonString(schema, record.value, { ignoreUnknownFields: true });
  const recordedAt = eventTimeOf(record);
  return { id: eventIdOf(record), message, recordedAt, cause: causeOf(record.headers) };
}

/**
 * Creates a handler of one type of event. The handler receives up to 200 events in the order of the topic, and must
 * give the same result whatever their order, repetitions and gaps. After a transient error (database or peer
 * unavailable) the whole batch is retried. After any other error the batch is halved until the failing event is alone.
 * If all events belong to one request, the handler runs in the context of this request, otherwise in a new context.
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
