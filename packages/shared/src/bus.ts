import type { TransactionSql } from "#src/postgres.ts";

/** One event on its way: CloudEvents headers and the proto JSON of its message. */
export interface BusRecord {
  /** Records of one key keep their order while nothing fails. */
  readonly key: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly value: string;
}

/** Works on records in the order of the topic, 1 to 200 at a time, inside a transaction of the consumer's own database. */
export type BatchHandler = (tx: TransactionSql, records: readonly BusRecord[]) => Promise<void>;

/** A consumer group's interest in one topic. */
export interface Subscription {
  /** Groups know nothing of each other; a new one starts at the beginning of the topic. */
  readonly group: string;
  readonly topic: string;
  /**
   * What it throws rolls the transaction back, and the same records come again after a pause: for ever, because the bus
   * never gives up a record by itself. `RetryLaterError` names the pause.
   */
  readonly handle: BatchHandler;
  /** Called after the transaction of a batch has committed, to wake what works on its effects. Must not throw. */
  readonly onCommitted?: () => void;
}

/**
 * Carries events between services, at least once. The position of a group never gets ahead of the effects of its
 * handler; behind it may be, so handlers are idempotent.
 */
export interface Bus extends AsyncDisposable {
  /** What it stands on, as `messaging.system` of OpenTelemetry names it. */
  readonly system: "kafka" | "postgresql";
  /**
   * Appends to a topic; resolves when the records are durable (Kafka) or will be by the commit of `tx` (Postgres).
   * Called inside the relay's transaction, which only the Postgres adapter uses.
   *
   * @throws RefusedRecordsError when at least one of the records will never be taken.
   */
  publish(tx: TransactionSql, topic: string, records: readonly BusRecord[]): Promise<void>;
  /** Starts consuming; disposing stops it after the batch in hand. */
  subscribe(subscription: Subscription): Promise<AsyncDisposable>;
}

/** At most so many records are handed to a `BatchHandler` at once. */
export const MAX_BATCH_RECORDS = 200;

/** The broker is there and will not take these records, now or later. */
export class RefusedRecordsError extends Error {
  override name = "RefusedRecordsError";
}

/** Thrown by a handler that knows how long the same batch should wait before it is tried again. */
export class RetryLaterError extends Error {
  override name = "RetryLaterError";
  readonly delayMs: number;

  constructor(message: string, delayMs: number, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.delayMs = delayMs;
  }
}
