import { setTimeout as sleep } from "node:timers/promises";
import type { Tail, TailRecord } from "#src/bus.ts";
import type { ISql, Sql } from "#src/postgres.ts";
import { type Loop, startLoop } from "#src/process/loop.ts";
import type { Logger } from "#src/telemetry/logger.ts";

/** Without a notification. */
const IDLE_MS = 30_000;
/** Notifications within it are answered with one statement. */
const GATHER_MS = 50;
const MAX_RECORDS = 200;

async function listNewestIds(
  sql: ISql,
  topics: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ topic: string; newest: number }[]>`
    select topic, coalesce((select max(id) from bus.records r where r.topic = own.topic), 0) as newest
    from unnest(${[...topics]}::text[]) as own (topic)`;
  return new Map(rows.map(({ topic, newest }) => [topic, newest]));
}

async function listRecordsAfter(
  sql: ISql,
  offsets: ReadonlyMap<string, number>,
): Promise<readonly TailRecord[]> {
  return await sql<TailRecord[]>`
    select own.topic as place, record.id as "offset", record.key, record.headers, record.value
    from unnest(${[...offsets.keys()]}::text[], ${[...offsets.values()]}::bigint[]) as own (topic, position)
    cross join lateral (
      select id, key, headers, value
      from bus.records
      where topic = own.topic
      and id > own.position
      order by id
      limit ${MAX_RECORDS}
    ) as record
    order by own.topic, record.id`;
}

/** The caller nudges it when a topic has new records. */
export function startPostgresTail(
  { topics, onStart, onRecords }: Tail,
  { sql, logger }: { readonly sql: Sql; readonly logger: Logger },
): Loop {
  let offsets: Map<string, number> | undefined;
  return startLoop({
    idleMs: IDLE_MS,
    work: async () => {
      if (offsets === undefined) {
        offsets = new Map(await listNewestIds(sql, topics));
        onStart(offsets);
        return false;
      }
      await sleep(GATHER_MS);
      const records = await listRecordsAfter(sql, offsets);
      for (const { place, offset } of records) offsets.set(place, offset);
      if (records.length > 0) onRecords(records);
      return records.length >= MAX_RECORDS;
    },
    onError: (error) =>
      logger.warn(
        { err: error },
        "new events could not be read for hints to open pages; they are read again after a pause",
      ),
  });
}
