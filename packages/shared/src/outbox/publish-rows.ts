import { RefusedRecordsError, type Bus } from "#src/bus.ts";
import { toRecord, type StoredEvent } from "#src/bus/cloud-events.ts";
import { workHalving } from "#src/bus/halving.ts";
import { parkEvent } from "#src/bus/parking.ts";
import { inRecordSpans } from "#src/bus/spans.ts";
import type { TransactionSql } from "#src/postgres.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface OutboxRow extends StoredEvent {
  readonly id: number;
  readonly createdAt: Date;
}

export interface PublishOptions {
  readonly bus: Bus;
  /** Name of the service that owns the outbox. */
  readonly service: string;
  /** Returns the topic of an event type. */
  readonly topicOf: (type: string) => string;
  readonly logger: Logger;
  /**
   * Maximum number of events in the first request to the event bus in one pass (one transaction of the outbox relay).
   */
  readonly requestRows: number;
  /**
   * Maximum time that one pass (one transaction of the outbox relay) waits for the event bus, in milliseconds. Then the
   * pass ends, and its unanswered request stays open.
   */
  readonly publishTimeoutMs: number;
}

/** A request to the event bus that was not answered before the outbox relay's transaction ended. */
export interface OpenRequest {
  readonly rows: readonly OutboxRow[];
  /** Resolves when the event bus has stored the events of the request, and rejects when the request fails. */
  readonly answer: Promise<void>;
}

/** What became of the events that the outbox relay tried to publish in one transaction. */
export interface PublishResult {
  /** The events that the event bus has stored or that are parked (put aside). They may be deleted from the outbox. */
  readonly done: readonly OutboxRow[];
  /**
   * Maximum number of events in the next request to the event bus: twice as many after each success, half as many after
   * a failure.
   */
  readonly requestRows: number;
  /** Why the outbox rows that are not in `done` could not be published; undefined if all are in `done`. */
  readonly failure?: PublishFailure;
}

export interface PublishFailure {
  readonly error: unknown;
  /** The request that the event bus did not answer in time. Its events are stored if the bus answers it later. */
  readonly open?: OpenRequest;
}

/** Maximum number of events in one request to the event bus; further events are sent in the next request. */
export const MAX_REQUEST_ROWS = 500;
/** Maximum size in bytes of the events in one request to the event bus. The Kafka bus splits larger requests. */
const MAX_REQUEST_BYTES = 512 * 1024;

/**
 * Publishes rows of the outbox by consecutive requests to the event bus. Each request contains rows of one topic, and the
 * rows of a topic are sent in order. After a request that fails or takes too long, no further request is sent in the
 * transaction; the events of the earlier requests count as published. Each failure halves the size of the next request, so
 * that an event bus that is too slow for large requests gets smaller ones.
 */
export async function publishRows(
  tx: TransactionSql,
  rows: readonly OutboxRow[],
  options: PublishOptions,
): Promise<PublishResult> {
  const deadlineAt = performance.now() + options.publishTimeoutMs;
  const done: OutboxRow[] = [];
  let { requestRows } = options;
  for (const [topic, rowsOfTopic] of Map.groupBy(rows, ({ type }) => options.topicOf(type)))
    for (let start = 0; start < rowsOfTopic.length;) {
      const part = nextPart(rowsOfTopic, start, requestRows);
      const failure = await publishPart(tx, part, { ...options, topic, deadlineAt, done });
      if (failure !== undefined)
        return { done, requestRows: Math.max(1, Math.floor(part.length / 2)), failure };
      requestRows = Math.min(MAX_REQUEST_ROWS, requestRows * 2);
      start += part.length;
    }

  return { done, requestRows };
}

/**
 * Returns the outbox rows of the next request to the event bus: at least one, and no more than its maximum number and
 * size allow.
 */
function nextPart(
  rows: readonly OutboxRow[],
  start: number,
  maxRows: number,
): readonly OutboxRow[] {
  let bytes = 0;
  const found = rows.slice(start, start + maxRows);
  const end = found.findIndex((row, index) => {
    bytes += row.payload.length;
    return index > 0 && bytes > MAX_REQUEST_BYTES;
  });
  return end === -1 ? found : found.slice(0, end);
}

interface PartOptions extends PublishOptions {
  readonly topic: string;
  readonly deadlineAt: number;
  /** List to which the rows are added that the event bus has stored or that are parked (put aside). */
  readonly done: OutboxRow[];
}

/**
 * Publishes the rows of one request, and parks (puts aside) the events that the broker refuses permanently. Returns why the
 * request failed; undefined if it succeeded.
 */
async function publishPart(
  tx: TransactionSql,
  part: readonly OutboxRow[],
  { bus, topic, service, logger, deadlineAt, done }: PartOptions,
): Promise<PublishFailure | undefined> {
  let open: OpenRequest | undefined;
  const send = async (savepoint: TransactionSql, rows: readonly OutboxRow[]): Promise<void> => {
    const records = rows.map((row) => toRecord(row, `/postrider/${service}`, row.createdAt));
    await inRecordSpans("send", records, { system: bus.system, topic }, async (sent) => {
      const answer = bus.publish(savepoint, topic, sent);
      open = { rows, answer };
      await withDeadline(answer, deadlineAt - performance.now());
    });
    open = undefined;
    done.push(...rows);
  };
  try {
    for (const { item, error } of await workHalving(tx, part, send, isRefusal)) {
      await parkEvent(tx, { direction: "out", topic, event: item, error, tries: 1 });
      logger.error(
        { err: error, topic, eventType: item.type, eventId: item.eventId },
        "the broker refused an event permanently; the event was parked",
      );
      done.push(item);
    }
    return undefined;
  } catch (error) {
    // The Postgres bus stores records within the savepoint, which the failure rolled back. So a late answer of the
    // Postgres bus does not mean that the records are stored.
    const isLate = error instanceof NoAnswerError && bus.system === "kafka";
    return open !== undefined && isLate ? { error, open } : { error };
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof RefusedRecordsError;
}

/** Thrown when the event bus has not answered before the deadline of the outbox relay's transaction. */
class NoAnswerError extends Error {
  override name = "NoAnswerError";
}

async function withDeadline(work: Promise<void>, timeoutMs: number): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const expire = (): void => reject(new NoAnswerError("the bus did not accept the events in time"));
  const timer = setTimeout(expire, Math.max(0, timeoutMs));
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
