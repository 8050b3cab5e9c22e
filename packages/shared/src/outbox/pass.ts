import type { Bus } from "#src/bus.ts";
import { domainsOf } from "#src/bus/topics.ts";
import type { ISql, Sql, TransactionSql } from "#src/postgres.ts";
import { failpoint } from "#src/process/failpoints.ts";
import type { Logger } from "#src/telemetry/logger.ts";
import {
  publishRows,
  type OutboxRow,
  type PublishFailure,
  type PublishOptions,
  type PublishResult,
} from "./publish-rows.ts";

export interface PassOptions {
  readonly sql: Sql;
  readonly bus: Bus;
  readonly service: string;
  readonly logger: Logger;
  readonly topicOf: (type: string) => string;
  /**
   * Then what is stored is committed; below `idle_in_transaction_session_timeout`. Default: 5 s.
   */
  readonly publishTimeoutMs?: number;
}

/** What earlier passes leave to the next one. A pass is one transaction. */
export interface PassInput {
  readonly floor: number;
  /** Number of rows in the first request of the pass. */
  readonly requestRows: number;
  /** The transaction that sent them ended before the answer. */
  readonly stored: readonly OutboxRow[];
  /** See `PublishOptions`. */
  readonly isCareful: boolean;
}

/** Nothing, because another relay holds the lock, or rows that were published and deleted. */
export type PassResult =
  | "busy"
  | {
      /** Published, or parked because the broker refused them. */
      readonly rows: readonly OutboxRow[];
      readonly isFull: boolean;
      readonly requestRows: number;
      readonly failure?: PublishFailure;
    };

const MAX_ROWS = 500;
/** Of a backlog, in addition. */
const MAX_BACKLOG_ROWS = 250;
/** Maximum size of one transaction, so that it stays within its deadline. */
const MAX_BYTES = 4 * 1024 * 1024;
const PUBLISH_TIMEOUT_MS = 5_000;

/**
 * Publishes the next events in one transaction: lock, read in the order of ids, publish, delete,
 * commit. A crash before the commit repeats events but never loses them. There is no cursor: ids
 * are not in commit order, and `id > last` would skip the rows of slow transactions.
 */
export async function runPass(options: PassOptions, input: PassInput): Promise<PassResult> {
  const { floor, stored, requestRows, isCareful } = input;
  return await options.sql.begin(async (tx): Promise<PassResult> => {
    // Sent together and executed in order, so the rows are those after the lock.
    const [isLocked, found] = await Promise.all([tryLock(tx), nextOf(tx, options.service, floor)]);
    if (!isLocked) return "busy";
    failpoint("relay.locked");
    const known = new Set(stored.map(({ eventId }) => eventId));
    const unsent = found.filter(({ eventId }) => !known.has(eventId));
    const rows = withinBytes(unsent);
    const { publishTimeoutMs = PUBLISH_TIMEOUT_MS } = options;
    const publish = { ...options, publishTimeoutMs, requestRows, isCareful };
    // There, a failure rolls back everything, so that the rows can be deleted at the same time.
    const isAtomic = options.bus.system === "postgresql" && !isCareful;
    const isFull = isCutOff(found) || rows.length < unsent.length;
    const [{ done, failedTopics: _failed, ...result }] = await Promise.all([
      publishOrPassBy(tx, { rows, isFull, floor, known }, publish),
      isAtomic ? deleteRows(tx, rows) : undefined,
    ]);
    if (done.length > 0) failpoint("relay.published");
    const gone = [...stored, ...done];
    if (!isAtomic) await deleteRows(tx, gone);
    return { rows: gone, isFull, ...result };
  });
}

/**
 * So that the events of a key stay in order. The lock ends with the transaction, or when
 * `idle_in_transaction_session_timeout` (10 s) ends that of a stopped process; a session lock would
 * stay for hours.
 */
async function tryLock(tx: TransactionSql): Promise<boolean> {
  const [row] = await tx<{ locked: boolean }[]>`
    select pg_try_advisory_xact_lock(hashtext('postrider.relay'), hashtext(current_schema())) as locked`;
  return row?.locked === true;
}

/** Consumers of the first events would slow down work that appends many more. */
export async function holdRelays(tx: TransactionSql): Promise<void> {
  await tx`
    select pg_try_advisory_xact_lock_shared(hashtext('postrider.relay'), hashtext(current_schema()))`;
}

const COLUMNS = "id, event_id, type, key, payload, headers, created_at";
const BACKLOG = "postrider.backlog.";
/** An index of the posts service has this condition, and another one the opposite. */
const NOT_OF_BACKLOG = `type not like '${BACKLOG}%'`;

/**
 * @param floor See `OutboxFloor`.
 * @param without Types of events to leave out.
 */
export function nextRows(sql: ISql, floor: number, without: readonly string[] = []) {
  return sql<OutboxRow[]>`
    select ${sql.unsafe(COLUMNS)}
    from outbox
    where id >= ${floor}
    ${without.length === 0 ? sql`` : sql`and type <> all(${without as string[]}::text[])`}
    order by id
    limit ${MAX_ROWS}`;
}

/** Events of a backlog come after all others, however many wait. */
export function nextOf(sql: ISql, service: string, floor: number) {
  if (!domainsOf(service).includes("backlog")) return nextRows(sql, floor);
  return sql<OutboxRow[]>`
    select ${sql.unsafe(COLUMNS)}
    from (
      (
        select ${sql.unsafe(COLUMNS)}, false as is_late
        from outbox
        where id >= ${floor}
        and ${sql.unsafe(NOT_OF_BACKLOG)}
        order by id
        limit ${MAX_ROWS}
      )
      union all
      (
        select ${sql.unsafe(COLUMNS)}, true as is_late
        from outbox
        where id >= ${floor}
        and not (${sql.unsafe(NOT_OF_BACKLOG)})
        order by id
        limit ${MAX_BACKLOG_ROWS}
      )
    ) as next
    order by is_late, id`;
}

/** Whether there may be further rows than those that were found. */
function isCutOff(found: readonly OutboxRow[]): boolean {
  const ofBacklog = found.filter(({ type }) => type.startsWith(BACKLOG)).length;
  return ofBacklog === MAX_BACKLOG_ROWS || found.length - ofBacklog === MAX_ROWS;
}

interface UnsentRows {
  readonly rows: readonly OutboxRow[];
  /** There may be further rows. */
  readonly isFull: boolean;
  readonly floor: number;
  /** Ids of events that the bus has stored. */
  readonly known: ReadonlySet<string>;
}

/**
 * If all rows are of topics that fail, publishes those of other topics that are behind them: else
 * the events of one topic could fill every pass.
 */
async function publishOrPassBy(
  tx: TransactionSql,
  { rows, isFull, floor, known }: UnsentRows,
  options: PublishOptions,
): Promise<PublishResult> {
  const { topicOf, publishTimeoutMs } = options;
  const endAt = performance.now() + publishTimeoutMs;
  const result = await publishRows(tx, rows, options);
  const { done, failure, failedTopics } = result;
  const leftMs = endAt - performance.now();
  const isPassable = done.length === 0 && failedTopics.size > 0 && failure?.open === undefined;
  if (!isFull || !isPassable || leftMs <= 0) return result;
  const isFailed = ({ type }: OutboxRow) => failedTopics.has(topicOf(type));
  const types = rows.filter(isFailed).map(({ type }) => type);
  const others = await nextRows(tx, floor, [...new Set(types)]);
  const behind = await publishRows(
    tx,
    withinBytes(others.filter((row) => !isFailed(row) && !known.has(row.eventId))),
    { ...options, publishTimeoutMs: leftMs },
  );
  return { ...behind, failure: { ...behind.failure, error: failure?.error } };
}

/** Up to `MAX_BYTES` in total, at least one row. */
function withinBytes(rows: readonly OutboxRow[]): readonly OutboxRow[] {
  let bytes = 0;
  const end = rows.findIndex((row, index) => {
    bytes += row.payload.length;
    return index > 0 && bytes > MAX_BYTES;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

/** A restored database may have assigned a row id again to an unpublished event. */
async function deleteRows(tx: TransactionSql, rows: readonly OutboxRow[]): Promise<void> {
  if (rows.length === 0) return;
  await tx`
    delete from outbox
    where id = any(${toArrayLiteral(rows.map(({ id }) => id))}::bigint[])
    and event_id = any(${toArrayLiteral(rows.map(({ eventId }) => eventId))}::uuid[])`;
}

function toArrayLiteral(values: readonly (number | string)[]): string {
  return `{${values.join(",")}}`;
}
