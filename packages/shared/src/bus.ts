import type { TransactionSql } from "#src/postgres.ts";

/** An event on the bus: CloudEvents headers and the proto JSON of its message. */
export interface BusRecord {
  /** A consumer group receives records with the same key in order, unless the processing of such a record fails. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}

/** Processes records in the order of the topic, 1 to 200 per call, inside a transaction of the consumer's own database. */
export type BatchHandler = (tx: TransactionSql, records: readonly BusRecord[]) => Promise<void>;

/** The subscription of a consumer group to one topic. */
export interface Subscription {
  /** Name of the consumer group. Each group receives all records; a new group starts at the beginning of the topic. */
  readonly group: string;
  readonly topic: string;
  /**
   * Processes a batch of records. An error rolls the transaction back, and the same records are passed again after a
   * pause, any number of times, because the bus never drops a record. `RetryLaterError` sets the pause.
   */
  readonly handle: BatchHandler;
  /**
   * Called after the transaction of a batch has committed, to wake jobs that continue the work of the batch. Must not
   * throw.
   */
  readonly onCommitted?: () => void;
}

/**
 * Delivers events between services at least once. The position of a consumer group moves only after the effects of its
 * handler are committed. A crash in between repeats events, so handlers must be idempotent.
 */
export interface Bus extends AsyncDisposable {
  /** The technology of the bus, as the value of OpenTelemetry's attribute `messaging.system`. */
  readonly system: "kafka" | "postgresql";
  /**
   * Appends records to a topic. Resolves when the records are durable (Kafka) or will become durable with the commit of
   * `tx` (Postgres). Called inside the relay's transaction, which only the Postgres adapter uses.
   *
   * @throws RefusedRecordsError when at least one of the records can never be accepted.
   */
  publish(tx: TransactionSql, topic: string, records: readonly BusRecord[]): Promise<void>;
  /** Starts a consumer of the bus. Disposing of the consumer stops it after the current batch. */
  subscribe(subscription: Subscription): Promise<AsyncDisposable>;
}

/** Maximum number of records per call of a `BatchHandler`. */
export const MAX_BATCH_RECORDS = 200;

/** Thrown when the broker can never accept at least one of the published records. */
export class RefusedRecordsError extends Error {
  override name = "RefusedRecordsError";
}

/** Thrown by an event handler that knows how long to wait before the same batch is retried. */
export class RetryLaterError extends Error {
  override name = "RetryLaterError";
  readonly delayMs: number;

  constructor(message: string, delayMs: number, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.delayMs = delayMs;
  }
}
