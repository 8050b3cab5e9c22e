import { RefusedRecordsError, type Bus } from "#src/bus.ts";
import { toRecord, type StoredEvent } from "#src/bus/cloud-events.ts";
import { type Failure, tryHalving, workHalving } from "#src/bus/halving.ts";
import { parkEvent } from "#src/bus/parking.ts";
import { inRecordSpans } from "#src/bus/telemetry.ts";
import type { TransactionSql } from "#src/postgres.ts";
import type { Logger } from "#src/telemetry/logger.ts";

export interface OutboxRow extends StoredEvent {
  readonly id: number;
  readonly createdAt: Date;
}

export interface PublishOptions {
  readonly bus: Bus;
  readonly service: string;
  readonly topicOf: (type: string) => string;
  readonly logger: Logger;
  /** Number of rows in the first request of a pass. */
  readonly requestRows: number;
  /** After this time without an answer the pass ends, and its request stays open. */
  readonly publishTimeoutMs: number;
  /**
   * On the Postgres bus, a failure rolls back the whole pass, unless each request has a savepoint,
   * which costs two round trips. So only the pass after a failed one has them.
   */
  readonly isCareful: boolean;
}

export interface OpenRequest {
  readonly rows: readonly OutboxRow[];
  /** Resolves when the bus has stored the events. */
  readonly answer: Promise<void>;
}

/** What became of the events of one transaction. */
export interface PublishResult {
  /** Stored or parked: they may be deleted from the outbox. */
  readonly done: readonly OutboxRow[];
  /** Rows in the next request: twice as many after a success, half as many after a failure. */
  readonly requestRows: number;
  /** Why rows are not in `done`. */
  readonly failure?: PublishFailure;
  /** Topics that failed with an answer, so that the other topics can go on. */
  readonly failedTopics: ReadonlySet<string>;
}

export interface PublishFailure {
  readonly error: unknown;
  /** Its events are stored if the answer comes later. */
  readonly open?: OpenRequest;
}

/** Maximum number of events per request. Further events are sent in the next one. */
export const MAX_REQUEST_ROWS = 500;
/** The Kafka bus splits larger requests. */
const MAX_REQUEST_BYTES = 512 * 1024;

/**
 * Publishes by consecutive requests, each with rows of one topic in order. After one that fails, no
 * further one of its topic is sent in the transaction; after one that takes too long, none at all.
 * The events of the others count as published. Each failure halves the next request, so that a slow
 * bus gets smaller ones.
 */
export async function publishRows(
  tx: TransactionSql,
  rows: readonly OutboxRow[],
  options: PublishOptions,
): Promise<PublishResult> {
  const deadlineAt = performance.now() + options.publishTimeoutMs;
  const done: OutboxRow[] = [];
  const failedTopics = new Set<string>();
  let { requestRows } = options;
  let failure: PublishFailure | undefined;
  for (const [topic, rowsOfTopic] of Map.groupBy(rows, ({ type }) => options.topicOf(type)))
    for (let start = 0; start < rowsOfTopic.length;) {
      const part = nextPart(rowsOfTopic, start, requestRows);
      const failed = await publishPart(tx, part, { ...options, topic, deadlineAt, done });
      if (failed !== undefined) {
        requestRows = Math.max(1, Math.floor(part.length / 2));
        failure = { ...failed, error: failure?.error ?? failed.error };
        if (failed.error instanceof NoAnswerError)
          return { done, requestRows, failure, failedTopics };
        failedTopics.add(topic);
        break;
      }
      requestRows = Math.min(MAX_REQUEST_ROWS, requestRows * 2);
      start += part.length;
    }

  return { done, requestRows, failedTopics, ...(failure === undefined ? {} : { failure }) };
}

/** At least one row. */
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
  /** Stored or parked rows are added to it. */
  readonly done: OutboxRow[];
}

/** Parks the events that the broker refuses permanently. Returns why the request failed. */
async function publishPart(
  tx: TransactionSql,
  part: readonly OutboxRow[],
  { bus, topic, service, logger, deadlineAt, done, isCareful }: PartOptions,
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
  const sendAll = async (): Promise<readonly Failure<OutboxRow>[]> => {
    if (bus.system === "kafka") return await tryHalving(part, (rows) => send(tx, rows), isRefusal);
    if (isCareful) return await workHalving(tx, part, send, isRefusal);
    await send(tx, part);
    return [];
  };
  try {
    for (const { item, error } of await sendAll()) {
      await parkEvent(tx, { direction: "out", topic, event: item, error, tries: 1 });
      logger.error(
        { err: error, topic, eventType: item.type, eventId: item.eventId },
        "the broker refused an event permanently, so it was parked; fix the cause, then run `postrider events redrive`",
      );
      done.push(item);
    }
    return undefined;
  } catch (error) {
    if (bus.system !== "kafka" && !isCareful) throw error;
    // The Postgres bus stores within the savepoint, which the failure rolled back: its late answer
    // does not mean that the records are stored.
    const isLate = error instanceof NoAnswerError && bus.system === "kafka";
    return open !== undefined && isLate ? { error, open } : { error };
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof RefusedRecordsError;
}

/** The bus did not answer before the deadline of the relay's transaction. */
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
