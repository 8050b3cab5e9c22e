import type { TransactionSql } from "#src/postgres.ts";

/** An event on the event bus between the services: the headers of a CloudEvent, and its protobuf message as JSON. */
export interface BusRecord {
  /**
   * Key of the record, for example the id of a post. A consumer group receives the records of a key in order, unless it
   * fails to process one of them.
   */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}

/**
 * Processes 1 to 200 records of a topic per call, in the order of the topic, inside a transaction of the consumer's own
 * database.
 */
export type BatchHandler = (tx: TransactionSql, records: readonly BusRecord[]) => Promise<void>;

/**
 * What the event bus needs to know of a consumer: the topic, the consumer group, and the function that processes the
 * records.
 */
export interface Subscription {
  /**
   * Name of the consumer group. Each group receives all records of a topic, and starts at the topic's beginning when it
   * is new.
   */
  readonly group: string;
  readonly topic: string;
  /**
   * Processes a batch of records. After an error, the event bus rolls back the transaction of the batch, pauses, and
   * calls the function again with the same records, any number of times, because the bus never drops a record. A
   * `RetryLaterError` sets the length of the pause.
   */
  readonly handle: BatchHandler;
  /**
   * Called after the transaction of a batch of records has committed, to wake background jobs that continue the work.
   * Must not throw.
   */
  readonly onCommitted?: () => void;
}

/**
 * The event bus: delivers events between services at least once. It moves the position of a consumer group only after
 * the effects of the group's handler are committed. A crash in between repeats events, so handlers must be idempotent.
 */
export interface Bus extends AsyncDisposable {
  /** The technology of the event bus, as the value of OpenTelemetry's attribute `messaging.system`. */
  readonly system: "kafka" | "postgresql";
  /**
   * Appends records to a topic of the event bus. The outbox relay calls this inside its transaction `tx`. On Kafka, the
   * call resolves when the records are durable. On Postgres, the records become durable when `tx` commits.
   *
   * @throws RefusedRecordsError when at least one of the records can never be accepted.
   */
  publish(tx: TransactionSql, topic: string, records: readonly BusRecord[]): Promise<void>;
  /** Starts a consumer of the event bus. Disposing of the consumer stops it after its current batch of records. */
  subscribe(subscription: Subscription): Promise<AsyncDisposable>;
  /**
   * Whether events have to stay in the outbox, because the data belongs to another deployment whose services may read the
   * same topics. Never true on Postgres, where the topics are a part of the copied database.
   */
  isHeld(): Promise<boolean>;
  /** Checks that the event bus answers and has all topics. @throws An error that says what is missing. */
  check(): Promise<void>;
}

/** Maximum number of records of the event bus per call of a `BatchHandler`; the next call gets further records. */
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
