import { fromJsonString, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { BatchHandler, BusRecord } from "#src/bus.ts";
import { eventIdOf } from "#src/bus/cloud-events.ts";
import type { TransactionSql } from "#src/postgres.ts";
import { causeOf, contextOf, sharedCause, type Cause } from "#src/telemetry/cause.ts";
import { runInContext } from "#src/telemetry/request-context.ts";

/** One event as a handler sees it. */
export interface IncomingEvent<T extends DescMessage> {
  /** The event's own id, the same however often it comes. */
  readonly id: string;
  readonly message: MessageShape<T>;
  /** The request that caused it, for what follows from it. */
  readonly cause: Cause;
}

/** What a consumer does with one type of event; made by `handleEvents`. */
export interface EventHandler {
  readonly schema: DescMessage;
  readonly handle: BatchHandler;
}

function toIncoming<T extends DescMessage>(schema: T, record: BusRecord): IncomingEvent<T> {
  // A newer producer may send fields that this build does not know yet.
  const message = fromJsonString(schema, record.value, { ignoreUnknownFields: true });
  return { id: eventIdOf(record), message, cause: causeOf(record.headers) };
}

/**
 * A handler of one type of event. It gets up to 200 events of that type in the order of the topic and must give the same
 * result for any order, any repetition and any gap. A transient error (database, peer unavailable) makes the whole batch
 * come again; for any other error the batch is halved until the bad event is alone. Events of one request are worked on as
 * part of it; a mixed batch is a request of its own.
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
