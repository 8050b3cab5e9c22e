import type { TransactionSql } from "#src/postgres.ts";

/** The headers of a CloudEvent, and its protobuf message as JSON. */
export interface BusRecord {
  /** A group receives the records of a key in order, unless it fails to process one of them. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}

/** Processes 1 to 200 records in the order of the topic, in the consumer's own transaction. */
export type BatchHandler = (tx: TransactionSql, records: readonly BusRecord[]) => Promise<void>;

/** What the bus needs to know of a consumer. */
export interface Subscription {
  /** Each group receives all records of a topic; a new one starts at the beginning. */
  readonly group: string;
  readonly topic: string;
  /**
   * After an error the bus rolls back, pauses, and calls this again with the same records, any
   * number of times, because it never drops a record. A `RetryLaterError` sets the length of the
   * pause.
   */
  readonly handle: BatchHandler;
  /** Called after a commit, to wake jobs that continue the work. Must not throw. */
  readonly onCommitted?: () => void;
}

export interface TailRecord extends BusRecord {
  /** Topic and partition, within which offsets rise. */
  readonly place: string;
  readonly offset: number;
}

/**
 * Reads what is published from now on, without a transaction and without a stored position: after a
 * disconnection it goes on where it was, and what happened before it began is never seen. For hints
 * that may be lost, in every process that wants them.
 */
export interface Tail {
  /** On Kafka the name of a group that no other process has. */
  readonly group: string;
  readonly topics: readonly string[];
  /** The offset of the last record of each place before the tail begins. */
  readonly onStart: (offsets: ReadonlyMap<string, number>) => void;
  readonly onRecords: (records: readonly TailRecord[]) => void;
}

/**
 * Delivers events at least once. The position of a group moves only after the effects of its
 * handler are committed: a crash in between repeats events, so handlers must be idempotent.
 */
export interface Bus extends AsyncDisposable {
  /** OpenTelemetry's `messaging.system`. */
  readonly system: "kafka" | "postgresql";
  /**
   * Called inside the relay's transaction. On Kafka it resolves when the records are durable; on
   * Postgres they become durable when `tx` commits.
   *
   * @throws RefusedRecordsError when at least one of the records can never be accepted.
   */
  publish(tx: TransactionSql, topic: string, records: readonly BusRecord[]): Promise<void>;
  /** Disposing stops the consumer after its current batch. */
  subscribe(subscription: Subscription): Promise<AsyncDisposable>;
  /** Disposing of it stops reading. */
  tail(tail: Tail): Promise<AsyncDisposable>;
  /**
   * Whether events have to stay in the outbox, because the data belongs to another deployment whose
   * services may read the same topics. Never on Postgres, where the topics are a part of the copied
   * database.
   */
  isHeld(): Promise<boolean>;
  /** @throws An error that says what is missing. */
  check(): Promise<void>;
}

/** Per call of a `BatchHandler`. */
export const MAX_BATCH_RECORDS = 200;

/** The broker can never accept at least one of the published records. */
export class RefusedRecordsError extends Error {
  override name = "RefusedRecordsError";
}

/** Thrown by a handler that knows how long to wait before the batch is retried. */
export class RetryLaterError extends Error {
  override name = "RetryLaterError";
  readonly delayMs: number;

  constructor(message: string, delayMs: number, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.delayMs = delayMs;
  }
}
