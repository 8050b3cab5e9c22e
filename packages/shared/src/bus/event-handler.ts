import { fromJsonString, type DescMessage, type MessageShape } from "@bufbuild/protobuf";
import type { BatchHandler, BusRecord } from "#src/bus.ts";
import { eventIdOf } from "#src/bus/cloud-events.ts";
import { newId } from "#src/ids.ts";
import type { TransactionSql } from "#src/postgres.ts";
import { runInContext, type RequestContext } from "#src/request-context.ts";

/** One event as a handler sees it. */
export interface IncomingEvent<T extends DescMessage> {
  /** The event's own id, the same however often it comes. */
  readonly id: string;
  readonly message: MessageShape<T>;
  /** Trace context of the request that caused the event. */
  readonly traceparent?: string;
}

/** What a consumer does with one type of event; made by `handleEvents`. */
export interface EventHandler {
  readonly schema: DescMessage;
  readonly handle: BatchHandler;
}

function toIncoming<T extends DescMessage>(schema: T, record: BusRecord): IncomingEvent<T> {
  // A newer producer may send fields that this build does not know yet.
  const message = fromJsonString(schema, record.value, { ignoreUnknownFields: true });
  const { traceparent } = record.headers;
  return { id: eventIdOf(record), message, ...(traceparent === undefined ? {} : { traceparent }) };
}

/** Events of one request are worked on as part of it; a mixed batch is a request of its own. */
function contextOf(records: readonly BusRecord[]): RequestContext {
  const [first] = records;
  const requestId = first?.headers.requestid;
  if (requestId === undefined) return { requestId: newId() };
  if (records.some((record) => record.headers.requestid !== requestId))
    return { requestId: newId() };
  const traceparent = first?.headers.traceparent;
  return { requestId, ...(traceparent === undefined ? {} : { traceparent }) };
}

/**
 * A handler of one type of event. It gets up to 200 events of that type in the order of the topic and must give the same
 * result for any order, any repetition and any gap. A transient error (database, peer unavailable) makes the whole batch
 * come again; for any other error the batch is halved until the bad event is alone.
 */
export function handleEvents<T extends DescMessage>(
  schema: T,
  work: (tx: TransactionSql, events: readonly IncomingEvent<T>[]) => Promise<void>,
): EventHandler {
  return {
    schema,
    handle: (tx, records) =>
      runInContext(contextOf(records), async () => {
        await work(
          tx,
          records.map((record) => toIncoming(schema, record)),
        );
      }),
  };
}
